//! A bundle in this process: opened and verified, and its prompts read.

use std::sync::Arc;
use std::time::Instant;

use relay_bundle::{Bundle, trust};

use crate::figures::number::median;
use crate::figures::{Figure, Report, beside, of};
use crate::{Result, Setting, cost, generate};

pub(crate) const LOAD: &[Figure] = &[OPEN_10K, OPEN_100K, START_10K, START_100K];
pub(crate) const READ: &[Figure] = &[PROMPT];

const OPEN_10K: Figure = Figure {
    id: "load/open-10k",
    work: "open and verify a bundle of 10,000 prompts (45 MB), in process",
    parts: &[of("", "ms").at_most(1.0)],
    note: "",
};
const OPEN_100K: Figure = Figure {
    id: "load/open-100k",
    work: "the same with 100,000 prompts (451 MB)",
    parts: &[of("", "ms").at_most(2.0)],
    note: "",
};
const START_10K: Figure = Figure {
    id: "load/start-10k",
    work: "exec to first answer on 10,000 prompts, whole process",
    parts: START_PARTS,
    note: "",
};
const START_100K: Figure = Figure {
    id: "load/start-100k",
    work: "the same on 100,000 prompts",
    parts: START_PARTS,
    note: "",
};
const START_PARTS: &[crate::figures::Part] = &[
    of("wall", "ms").at_most(5.0),
    of("CPU", "ms"),
    // 8 MiB.
    of("resident", "MB").at_most(8.389),
    of("of its own", "MB"),
];
const PROMPT: Figure = Figure {
    id: "read/prompt",
    work: "one verified prompt of 4 KB found and filled, in process",
    parts: &[
        of("at first", "µs").at_most(6.0),
        of("again", "µs"),
        beside("SHA-256 of a page of 4 KiB", "µs"),
    ],
    note: "at first each page is hashed, so the hash is the least that it takes.",
};

/// Open and verify, in this process, from memory: what a load costs beside mapping the file.
pub(crate) fn load(setting: &Setting, report: &mut Report) -> Result<()> {
    for (prompts, open, start) in
        [(10_000, &OPEN_10K, &START_10K), (100_000, &OPEN_100K, &START_100K)]
    {
        let bytes = setting.signed(&generate::contents(prompts))?;
        let shared: Arc<[u8]> = bytes.into();
        let mut times = Vec::new();
        for _ in 0..50 {
            let storage = Box::new(Arc::clone(&shared));
            let start = Instant::now();
            let bundle = Bundle::open(storage)?;
            trust::verify(&bundle, &setting.trust, 1)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        report.put_all(open, &[median(&mut times)])?;
        drop(shared);
        report.put_all(start, &cost::load(setting, prompts)?)?;
    }
    Ok(())
}

/// Every prompt of a bundle read for the first time: each page is checked on the way.
pub(crate) fn read(setting: &Setting, report: &mut Report) -> Result<()> {
    let count = 10_000;
    let bytes: Arc<[u8]> = setting.signed(&generate::contents(count))?.into();
    let mut cold = Vec::new();
    let mut warm = Vec::new();
    for _ in 0..5 {
        let bundle = Bundle::open(Box::new(Arc::clone(&bytes)))?;
        for figures in [&mut cold, &mut warm] {
            let start = Instant::now();
            let mut length = 0;
            for index in 0..count {
                let name = generate::name(index * 7919 % count);
                let prompt = bundle.find_prompt(&name)?.ok_or("not found")?;
                let filled = relay_engine::prompt::fill(prompt.rendering(), &Default::default())?;
                length += filled.messages.len();
            }
            figures.push(start.elapsed().as_secs_f64() * 1e6 / length as f64);
        }
    }
    // The hash of one page is the minimum of a first read; it shows how busy the machine was.
    let page = vec![7; 4096];
    let start = Instant::now();
    for _ in 0..count {
        std::hint::black_box(relay_bundle::Digest::of(std::hint::black_box(&page)));
    }
    let hash = start.elapsed().as_secs_f64() * 1e6 / count as f64;
    report.put_all(&PROMPT, &[median(&mut cold), median(&mut warm), hash])
}
