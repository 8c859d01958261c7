// Checks SARIF logs, given as paths, against the schema, and that the schema finds faults at all.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const Ajv = require("ajv-draft-04");
const addFormats = require("ajv-formats");

const folder = path.dirname(require.resolve("@microsoft/jest-sarif/package.json"));
const schema = JSON.parse(fs.readFileSync(path.join(folder, "lib/schemas/sarif-2.1.0-rtm.5.json"), "utf8"));
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats(ajv);
const conforms = ajv.compile(schema);

let passed = 0;
let failed = 0;
let results = 0;
const check = (name, holds, errors) => {
    if (holds) {
        passed += 1;
        return;
    }
    failed += 1;
    console.log(`FAIL ${name}`);
    for (const error of (errors ?? []).slice(0, 10)) console.log(`  ${error.instancePath} ${error.message}`);
};

const files = process.argv.slice(2);
for (const file of files) {
    const log = JSON.parse(fs.readFileSync(file, "utf8"));
    results += log.runs[0].results.length;
    check(path.basename(file), conforms(log), conforms.errors);
}

// A schema that accepts everything would pass too.
const faults = [
    (log) => { log.version = "2.0.0"; },
    (log) => { log.runs[0].results[0].level = "grave"; },
    (log) => { delete log.runs[0].results[0].message; },
    (log) => { log.runs[0].results[0].surplus = true; },
    (log) => { log.runs[0].results[0].locations[0].physicalLocation.region.startLine = 0; },
];
const changed = fs.readFileSync(files.find((file) => path.basename(file) === "changed.sarif"), "utf8");
for (const fault of faults) {
    const log = JSON.parse(changed);
    fault(log);
    check(`fault ${fault}`, !conforms(log));
}
check(`${results} results are enough to see`, results > 100);

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
