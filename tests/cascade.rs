//! The cascade of skills: which texts a call of a tool is given, by tenant, tool and user.

mod glob;
