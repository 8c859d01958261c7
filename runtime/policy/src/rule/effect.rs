//! Conditions on one effect.

use relay_bundle::Selector;

use super::condition::Condition;
use super::fit::Fit;
use super::glob::value_fit;
use super::host::host_fit;
use super::request::Request;
use super::seen::{SeenPath, SeenWord};
use crate::effect::{Call, Effect, Hidden, Sent, Touch, What};
use crate::path_rules::{PathPattern, may_concern};
use crate::paths::{PathClass, admits, is_agent_config, may_be_secret};
use crate::tier::Floor;

/// The word for every value of a selector that takes words.
const ANY: &str = "*";

/// Returns whether a condition means an effect.
pub(super) fn effect_fit(request: &Request<'_>, condition: &Condition<'_>, effect: &Effect) -> Fit {
    let effects = request.effects;
    match (condition.selector, effect.what) {
        (selector, What::Path { touch, path, class, is_many, is_tree, is_secret, .. })
            if selector.is_of_paths() =>
        {
            let fit = touch_fit(request, selector, touch, effect);
            if fit == Fit::No {
                return Fit::No;
            }
            let is_whole = happens_to_whole((touch, is_many, is_tree), fit);
            let path = request.seen.path(effects, path, request.ground());
            let touched = Touched { path: &path, class, is_secret, is_whole };
            fit.min(condition.any(|pattern| path_fit(request, pattern, touched)))
        }
        (Selector::Connects, What::Connects(host)) => request.value_host_fit(condition, host),
        (Selector::Listens, What::Listens(value))
        | (Selector::Escalates, What::Escalates(value)) => {
            condition.any(|pattern| value_fit(pattern, effects.bytes_of(value)))
        }
        (Selector::Sends, What::Sends(sent)) => condition.any(|word| sends(word, sent)),
        (Selector::Runs, What::Runs(hidden, _)) => {
            condition.any(|word| Fit::known(word == ANY || word == hidden_word(hidden)))
        }
        // A program at a path is a file that the text does not show; one of a name may be.
        (Selector::Runs, What::Doubt(Floor::UnknownProgram, _)) => {
            let call = effect.by.and_then(|call| effects.call(call));
            let is_file = call.is_some_and(|call| effects.bytes_of(call.program).contains(&b'/'));
            let fit = condition
                .any(|word| Fit::known(word == ANY || word == hidden_word(Hidden::Opaque)));
            if is_file { fit } else { fit.doubted() }
        }
        _ => Fit::known(effect.may_be_any_effect()).doubted(),
    }
}

/// The words of `sends`, for the parser and the reference.
fn sends(word: &str, sent: Sent) -> Fit {
    match (word, sent) {
        (ANY, _)
        | ("secret", Sent::Secret)
        | ("file", Sent::File)
        | ("body", Sent::Body)
        | ("output", Sent::Output)
        | ("data", Sent::Data) => Fit::Surely,
        // The output of another command may hold a secret.
        ("secret", Sent::Output) => Fit::Maybe,
        // The facts of most programs say that data is sent, and leave its kind open.
        ("file" | "body" | "output", Sent::Data) => Fit::Maybe,
        _ => Fit::No,
    }
}

const fn hidden_word(hidden: Hidden) -> &'static str {
    match hidden {
        Hidden::Opaque => "opaque",
        Hidden::Made => "made",
        Hidden::Network => "remote",
    }
}

/// Returns whether an effect is of the kind that a selector names, with any value.
pub(super) fn is_of_kind(selector: Selector, effect: &Effect) -> bool {
    match effect.what {
        What::Path { touch, .. } => is_touch(selector, touch),
        What::Connects(_) => selector == Selector::Connects,
        What::Listens(_) => selector == Selector::Listens,
        What::Escalates(_) => selector == Selector::Escalates,
        What::Sends(_) => selector == Selector::Sends,
        What::Runs(..) | What::Doubt(Floor::UnknownProgram, _) => selector == Selector::Runs,
        _ => false,
    }
}

fn is_touch(selector: Selector, touch: Touch) -> bool {
    match touch {
        _ if selector == Selector::Touches => true,
        Touch::Read => selector == Selector::Reads,
        Touch::Write | Touch::Append => selector == Selector::Writes,
        Touch::Remove => selector == Selector::Removes,
        // A file that is emptied is overwritten, and its content is gone.
        Touch::Empty => matches!(selector, Selector::Removes | Selector::Writes),
        // A moved file is read, and then lies elsewhere.
        Touch::Take => matches!(selector, Selector::Removes | Selector::Reads),
        Touch::Change | Touch::ChangeTree => selector == Selector::Changes,
    }
}

/// Returns whether something of this kind happens to the path of an effect.
pub(super) fn touch_fit(
    request: &Request<'_>,
    selector: Selector,
    touch: Touch,
    effect: &Effect,
) -> Fit {
    if is_touch(selector, touch) {
        return Fit::Surely;
    }
    // `find PATH -delete` reads its path, and by a fact does more.
    let may_act = touch == Touch::Read
        && effect.by.is_some_and(|call| request.seen.acts(request.effects, call));
    Fit::known(may_act).doubted()
}

/// Returns whether it happens to all below a folder too, for a touch of a path that is many or a tree.
pub(super) fn happens_to_whole((touch, is_many, is_tree): (Touch, bool, bool), fit: Fit) -> bool {
    // A program that writes to `/` itself puts folders there.
    let is_laid_out = is_tree && touch == Touch::Write;
    is_many || is_laid_out || happens_to_all(touch) || fit == Fit::Maybe
}

/// Returns whether a condition may mean a word of an unknown program: it may be a path to which
/// anything happens, or an address to which it connects.
pub(super) fn unknown_fit(request: &Request<'_>, condition: &Condition<'_>, call: &Call) -> Fit {
    if call.node.is_some() {
        return Fit::No;
    }
    let is_of_paths = condition.selector.is_of_paths();
    if !is_of_paths && condition.selector != Selector::Connects {
        return Fit::No;
    }
    let words = request.effects.arguments(call).iter().filter_map(|word| word.value);
    let fits = words.map(|word| {
        let word = request.seen.word(request.effects, word, request.ground());
        let SeenWord { path, class, is_secret, host } = &*word;
        if !is_of_paths {
            let host = host.as_deref();
            return host.map_or(Fit::No, |host| host_fit(request.inventory, condition, host));
        }
        let touched = Touched { path, class: *class, is_secret: *is_secret, is_whole: true };
        condition.any(|pattern| path_fit(request, pattern, touched))
    });
    Fit::any(fits).doubted()
}

/// A path to which something happens.
#[derive(Clone, Copy)]
struct Touched<'p> {
    path: &'p SeenPath,
    class: PathClass,
    is_secret: bool,
    /// Whether it happens to all below a folder too.
    is_whole: bool,
}

/// Returns whether a path matches a pattern, or is of a class.
fn path_fit(request: &Request<'_>, pattern: &str, touched: Touched<'_>) -> Fit {
    let Touched { path: SeenPath { bytes, is_open, forms }, class, is_secret, is_whole } = touched;
    let is_open = *is_open;
    let open = |fit: Fit| if fit == Fit::No && is_open { Fit::Maybe } else { fit };
    let is_unknown = class == PathClass::Unknown;
    let of_class = |is_it: bool| match is_it {
        true if is_open => Fit::Maybe,
        true => Fit::Surely,
        false => open(Fit::known(is_unknown).doubted()),
    };
    match pattern {
        ANY => return Fit::Surely,
        "secret" if !is_secret && may_be_secret(bytes) => return Fit::Maybe,
        "secret" => return of_class(is_secret),
        "critical" => return of_class(class == PathClass::Critical),
        "admits" => {
            let is_it = class == PathClass::Admits || admits(request.paths, forms);
            return of_class(is_it);
        }
        "scratch" => return of_class(class == PathClass::Scratch),
        "device" => return of_class(class == PathClass::Device),
        "agent-config" => {
            return of_class(forms.iter().any(|form| is_agent_config(form)));
        }
        _ => {}
    }
    if is_open {
        // An unknown part may leave its folder.
        return Fit::Maybe;
    }
    let single;
    let (patterns, except) = match request.classes.of_name(pattern) {
        Some(class) => class,
        None if !forms.iter().any(|form| may_concern(pattern, form)) => {
            return Fit::known(is_unknown).doubted();
        }
        None => match PathPattern::new(pattern) {
            Ok(pattern) => {
                single = [pattern];
                (single.as_slice(), &[][..])
            }
            // INVARIANT: the compiler has read every pattern.
            Err(_) => return Fit::Maybe,
        },
    };
    let has = |patterns: &[PathPattern]| {
        Fit::any(forms.iter().flat_map(|form| {
            patterns.iter().map(move |pattern| {
                if pattern.matches(form, false) {
                    return Fit::Surely;
                }
                let below = is_whole && pattern.may_be_below(form);
                Fit::known(below || pattern.matches(form, true)).doubted()
            })
        }))
    };
    let meant = has(patterns);
    if is_unknown && meant == Fit::No {
        return Fit::Maybe;
    }
    meant.without(has(except))
}

/// Returns whether it happens to all below a folder too.
const fn happens_to_all(touch: Touch) -> bool {
    matches!(touch, Touch::Remove | Touch::Take | Touch::ChangeTree)
}
