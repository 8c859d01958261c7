//! The skills that a call is given.

use serde_json::json;

use crate::cli::{Run, Sandbox, snapshot};

const SKILLS: &str = "project small version=\"1.0.0\" epoch=1\n\
    tenants { tenant acme; tenant globex }; tools { other \"api-*\" \"db-read\" }\n\
    skills {\n\
        global {\n\
            skill request-id priority=10 \"Attach a request id to each call.\"\n\
            skill date-format topic=dates \"Write dates as DD/MM/YYYY.\"\n\
        }\n\
        tenant acme {\n\
            skill formats topic=dates \"Dates are ISO 8601.\"\n\
            skill gdpr priority=100 tools=\"api-*\" \"Mask personal data.\"\n\
        }\n\
        user \"john@acme.example\" { skill brief tenant=globex \"Be brief.\" }\n\
    }\n";

fn explain_skills(question: &[&str]) -> Run {
    let sandbox = Sandbox::of(&[("project.kdl", SKILLS)]);
    sandbox.relay("build . --unsigned").ends(0);
    sandbox.relay_of(&[&["explain", "small.relay"], question].concat()).silent()
}

#[test]
fn human_output_of_skills() {
    let john = "john@acme.example";
    let known = ["--tenant", "acme", "--tool", "db-read", "--user", john];
    let unknown = ["--tenant", "acm", "--tool", "api-create", "--user", "jon@acme.example"];
    let page = [(0, &known[..]), (1, &unknown[..]), (0, &["--user", john])]
        .map(|(code, question)| explain_skills(question).ends(code).stdout)
        .join("\n");
    snapshot("explain_cascade_human", &page);
}

#[test]
fn json_output_of_skills() {
    let answer = explain_skills(&["--tenant", "acme", "--tool", "db-read", "--json"]).ends(0);
    let answer = answer.json();
    let text = "Attach a request id to each call.\nDates are ISO 8601.";
    assert_eq!(answer["resolved_context"], text);
    assert_eq!(
        answer["trace"],
        json!([
            { "level": "global", "skill": "request-id", "priority": 10, "matched": true, "at": "project.kdl:5" },
            { "level": "global", "skill": "date-format", "priority": 50, "matched": true, "overridden_by": "formats", "at": "project.kdl:6" },
            { "level": "tenant", "skill": "formats", "priority": 50, "matched": true, "at": "project.kdl:9" },
            { "level": "tool", "skill": null, "matched": false },
            { "level": "user", "skill": null, "matched": false },
        ])
    );
    assert_eq!(
        answer["near_misses"],
        json!([{
            "level": "tenant", "skill": "gdpr", "priority": 100, "at": "project.kdl:10",
            "failed": { "selector": "tool", "wants": ["api-*"], "got": "db-read" },
        }])
    );
    assert_eq!(answer["notes"], json!([]));
}

#[test]
fn a_question_about_skills_is_asked_alone() {
    explain_skills_of("--tags x --tool y").ends(2).says("does not go together with");
    explain_skills_of("--tool y --budget 3").ends(2).says("does not go together with");
    explain_skills_of("").ends(2).says("needs a question");
}

fn explain_skills_of(question: &str) -> Run {
    Sandbox::of(&[("project.kdl", SKILLS)]).relay(&format!("explain . {question}"))
}
