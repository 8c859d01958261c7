//! Statements: tags, and the text around them.

use std::ops::Range;

use minijinja::machinery::ast::{CallBlock, Expr, ForLoop, IfCond, Macro, Stmt};

use super::expression::Bond;
use super::extent::{extent, range};
use super::rewriter::{How, Name, Rewriter, template_name};
use crate::resolve::template::engine::{
    BLOCK_END, BLOCK_START, PAY, PRINT_END, PRINT_START, STORE,
};
use crate::resolve::template::error::TemplateError;

impl Rewriter<'_, '_> {
    fn statements(&mut self, statements: &[Stmt<'_>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn repeated(&mut self, statements: &[Stmt<'_>]) {
        self.repeats += 1;
        self.statements(statements);
        self.repeats -= 1;
    }

    /// Writes a tag; `content` writes its contents.
    fn tag(&mut self, keyword: &str, content: impl FnOnce(&mut Self)) {
        self.put(BLOCK_START);
        self.put(keyword);
        self.put(" ");
        content(self);
        self.put(BLOCK_END);
    }

    fn end(&mut self, keyword: &str) {
        self.tag(keyword, |_| {});
    }

    pub(super) fn statement(&mut self, statement: &Stmt<'_>) {
        let start = self.result.made.len();
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitRaw(raw) => self.raw(raw.raw),
            Stmt::EmitExpr(emit) => {
                self.put(PRINT_START);
                self.expr(&emit.expr, Bond::Choice, How::Printed);
                self.put(PRINT_END);
                self.place(start, &emit.expr);
            }
            Stmt::ForLoop(each) => {
                self.for_loop(each);
                self.place(start, &each.iter);
            }
            Stmt::IfCond(condition) => {
                self.condition("if", condition);
                self.end("endif");
            }
            Stmt::WithBlock(with) => {
                // All values are made before any name is set, so they cannot use each other's
                // names.
                self.tag("with", |this| {
                    if let [(target, value)] = &*with.assignments {
                        let start = this.result.made.len();
                        this.assignment(target, value);
                        return this.place(start, value);
                    }
                    for (open, close, is_target) in [("(", ") = ", true), ("(", ")", false)] {
                        this.put(if with.assignments.is_empty() { "" } else { open });
                        for (target, value) in &with.assignments {
                            match is_target {
                                true => this.target(target),
                                false => this.assigned(target, value),
                            }
                            this.put(", ");
                        }
                        this.put(if with.assignments.is_empty() { "" } else { close });
                    }
                });
                self.statements(&with.body);
                self.end("endwith");
            }
            Stmt::Set(set) => {
                self.tag("set", |this| this.assignment(&set.target, &set.expr));
                self.place(start, &set.expr);
            }
            Stmt::SetBlock(set) => {
                self.tag("set", |this| {
                    this.target(&set.target);
                    if let Some(filter) = &set.filter {
                        this.put(" | ");
                        this.filters(filter);
                    }
                });
                self.statements(&set.body);
                self.end("endset");
            }
            Stmt::FilterBlock(block) => {
                self.tag("filter", |this| this.filters(&block.filter));
                self.statements(&block.body);
                self.end("endfilter");
                self.place(start, &block.filter);
            }
            Stmt::AutoEscape(block) => {
                let error = |at, line| TemplateError::Unsupported { line, at };
                self.source.report(&range(block.enabled.span()), self.out, error);
            }
            Stmt::Block(block) => {
                let required = if block.required { " required" } else { "" };
                self.tag("block", |this| this.put(&format!("{}{required}", block.name)));
                // A required block holds only white space.
                self.repeated(if block.required { &[] } else { &block.body });
                self.end("endblock");
            }
            Stmt::Import(import) => {
                if let Some(name) = self.linked(&import.expr, false) {
                    self.tag("import", |this| {
                        this.put(&format!("\"{name}\" as "));
                        this.target(&import.name);
                    });
                    self.place(start, &import.expr);
                }
            }
            Stmt::FromImport(import) => {
                if let Some(name) = self.linked(&import.expr, false) {
                    self.tag("from", |this| {
                        this.put(&format!("\"{name}\" import "));
                        for (index, (name, alias)) in import.names.iter().enumerate() {
                            this.put(if index == 0 { "" } else { ", " });
                            match alias {
                                Some(alias) => {
                                    this.put(variable(name));
                                    this.put(" as ");
                                    this.target(alias);
                                }
                                None => this.target(name),
                            }
                        }
                    });
                    self.place(start, &import.expr);
                }
            }
            Stmt::Extends(extends) => {
                if let Some(name) = self.linked(&extends.name, false) {
                    self.tag("extends", |this| this.put(&format!("\"{name}\"")));
                    self.place(start, &extends.name);
                }
            }
            Stmt::Include(include) => {
                if let Some(name) = self.linked(&include.name, include.ignore_missing) {
                    self.tag("include", |this| this.put(&format!("\"{name}\"")));
                    self.place(start, &include.name);
                }
            }
            Stmt::Macro(declared) => {
                let after_keyword = range(declared.span()).start + "macro".len();
                let at = self.find(declared.name, after_keyword);
                self.result.assigned.push(Name { name: declared.name.into(), at });
                self.tag("macro", |this| {
                    this.put(declared.name);
                    this.parameters(declared);
                });
                self.defaults(declared);
                self.repeated(&declared.body);
                self.end("endmacro");
            }
            Stmt::CallBlock(block) => self.call_block(block),
            Stmt::Do(statement) => {
                self.tag("do", |this| this.call(&statement.call));
            }
        }
    }

    /// Writes text as it is. Where it may be rendered again and again, each time is paid for, which
    /// is the only limit of a capture.
    fn raw(&mut self, raw: &str) {
        if self.repeats > 0 {
            self.put(&format!("{PRINT_START}{}|{PAY}{PRINT_END}", raw.len()));
        }
        self.put(raw);
    }

    fn for_loop(&mut self, each: &ForLoop<'_>) {
        self.tag("for", |this| {
            this.target(&each.target);
            this.put(" in ");
            this.measured(&each.iter);
            if let Some(filter) = &each.filter_expr {
                this.put(" if ");
                this.truth(filter, Bond::Or, How::Tested);
            }
            this.put(if each.recursive { " recursive" } else { "" });
        });
        self.repeated(&each.body);
        if !each.else_body.is_empty() {
            self.end("else");
            self.statements(&each.else_body);
        }
        self.end("endfor");
    }

    /// Writes an `if` or `elif` and its branches, up to the `endif`.
    fn condition(&mut self, keyword: &str, condition: &IfCond<'_>) {
        self.tag(keyword, |this| this.truth(&condition.expr, Bond::Or, How::Tested));
        self.statements(&condition.true_body);
        match &*condition.false_body {
            [] => {}
            [Stmt::IfCond(next)] => self.condition("elif", next),
            otherwise => {
                self.end("else");
                self.statements(otherwise);
            }
        }
    }

    fn call_block(&mut self, block: &CallBlock<'_>) {
        let start = self.result.made.len();
        let declared = &block.macro_decl;
        self.put(BLOCK_START);
        self.put("call");
        if !declared.args.is_empty() {
            self.parameters(declared);
        }
        self.put(" ");
        self.call(&block.call);
        self.put(BLOCK_END);
        self.defaults(declared);
        self.repeated(&declared.body);
        self.end("endcall");
        self.place(start, &block.call.expr);
    }

    fn parameters(&mut self, declared: &Macro<'_>) {
        self.put("(");
        for (index, parameter) in declared.args.iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            self.target(parameter);
        }
        self.put(")");
    }

    /// Sets the missing parameters in order: the default of one may name those before it, which the
    /// engine's own defaults cannot see.
    fn defaults(&mut self, declared: &Macro<'_>) {
        let without_default = declared.args.len().saturating_sub(declared.defaults.len());
        for (parameter, default) in
            declared.args.iter().skip(without_default).zip(&declared.defaults)
        {
            let name = variable(parameter);
            self.tag("if", |this| this.put(&format!("{name} is undefined")));
            self.tag("set", |this| {
                this.put(&format!("{name} = "));
                this.expr(default, Bond::Choice, How::Read);
            });
            self.end("endif");
        }
    }

    fn assignment(&mut self, target: &Expr<'_>, value: &Expr<'_>) {
        self.target(target);
        self.put(" = ");
        self.assigned(target, value);
    }

    /// Writes the value that is assigned to a target; a namespace checks it with [`STORE`].
    fn assigned(&mut self, target: &Expr<'_>, value: &Expr<'_>) {
        let mut namespaces = Vec::new();
        find_namespaces(target, &mut namespaces);
        let bond = if namespaces.is_empty() { Bond::Choice } else { Bond::Filter };
        self.expr(value, bond, How::Read);
        for namespace in namespaces {
            self.put(&format!("|{STORE}("));
            self.expr(namespace, Bond::Choice, How::Read);
            self.put(")");
        }
    }

    /// Writes the target of an assignment: a name, names in brackets, an attribute of a namespace.
    fn target(&mut self, target: &Expr<'_>) {
        match target {
            Expr::Var(name) => {
                let at = range(name.span());
                self.result.assigned.push(Name { name: name.id.into(), at });
                self.put(name.id);
            }
            Expr::List(names) => {
                self.put("(");
                for name in &names.items {
                    self.target(name);
                    self.put(",");
                }
                self.put(")");
            }
            Expr::GetAttr(attribute) => {
                self.expr(&attribute.expr, Bond::Atom, How::Read);
                self.put(".");
                self.put(attribute.name);
            }
            _ => {}
        }
    }

    /// Returns the engine's name for the file that an expression names.
    fn linked(&mut self, name: &Expr<'_>, may_miss: bool) -> Option<String> {
        let at = extent(name);
        let path = match name {
            Expr::Const(constant) => constant.value.as_str(),
            _ => None,
        };
        let Some(path) = path else {
            let error = |at, line| TemplateError::IncludeNotPlain { line, at };
            self.source.report(&at, self.out, error);
            return None;
        };
        (self.link)(path, at, may_miss, self.out).map(template_name)
    }

    /// Returns the first place of a word after an offset.
    fn find(&self, word: &str, from: usize) -> Range<usize> {
        let rest = self.source.text.get(from..).unwrap_or_default();
        let start = from + rest.find(word).unwrap_or(0);
        start..start + word.len()
    }
}

/// Finds the namespaces of an assignment.
fn find_namespaces<'t, 'a>(target: &'t Expr<'a>, found: &mut Vec<&'t Expr<'a>>) {
    match target {
        Expr::List(names) => names.items.iter().for_each(|name| find_namespaces(name, found)),
        Expr::GetAttr(attribute) => found.push(&attribute.expr),
        _ => {}
    }
}

fn variable<'a>(expr: &Expr<'a>) -> &'a str {
    if let Expr::Var(name) = expr { name.id } else { "" }
}
