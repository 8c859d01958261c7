"""Renders random templates with relay and with Jinja2, and compares the texts. `README.md` says what is compared.

    check.py RELAY RELAY_SERVE WORK --trust FILE --key FILE --count N --seed SEED
"""

import argparse
import collections
import itertools
import json
import pathlib
import random
import subprocess
import sys

import jinja2

import generate

# Prompts of one project: one that is refused is left out, and the others are built.
BATCH = 250
# Renderings of each template.
CALLS = 5
# What relay refuses by design, also where Jinja does not.
BY_DESIGN = {
    "template::free_text",
    "template::maybe_absent",
    "template::shadowed_argument",
    "template::too_many_variants",
}


class Absent(jinja2.StrictUndefined):
    """An absent argument: an error as in strict Jinja, but false where it is tested."""

    def __bool__(self):
        return False


def jinja(template):
    """The template in Jinja2, or the error that it has there."""
    files = dict(template.files, main=template.text)
    environment = jinja2.Environment(undefined=Absent, loader=jinja2.DictLoader(files))
    return environment.get_template("main")


def rendered(template, given):
    values = {argument.variable: argument.seen(given.get(argument.name)) for argument in template.arguments}
    try:
        return jinja(template).render({name: value for name, value in values.items() if value is not None}), None
    except Exception as error:  # Whatever it is, Jinja does not render it.
        return None, f"{type(error).__name__}: {error}"


def write_project(folder, templates):
    lines = ["project random epoch=1", "prompts {"]
    for number, template in templates.items():
        path = folder / f"p{number}"
        path.mkdir(parents=True, exist_ok=True)
        for name, text in dict(template.files, **{"main.j2": template.text}).items():
            (path / name).write_bytes(text.encode())
        lines.append(f'    prompt p{number} file="p{number}/main.j2" {{')
        lines.append('        summary "A random template"')
        lines += [f"        {argument.kdl()}" for argument in template.arguments]
        lines.append("    }")
    lines.append("}")
    (folder / "project.kdl").write_text("\n".join(lines) + "\n")


def build(options, folder, bundle):
    """Builds the project; the prompts that have errors, with the code and message of each."""
    command = [options.relay, "build", folder / "project.kdl", "-o", bundle, "--key", options.key, "--format", "json", "-q"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode == 0:
        return {}
    lines = (folder / "project.kdl").read_text().split("\n")
    found = {}
    for finding in json.loads(run.stdout)["report"]["diagnostics"]:
        if finding["severity"] != "error":
            continue
        path, line = pathlib.PurePath(finding["file"]), finding["line"]
        if path.name == "project.kdl":
            named = [text for text in lines[:line] if text.startswith("    prompt p")][-1].split()[1]
        else:
            named = path.parent.name
        found.setdefault(int(named[1:]), []).append((finding["code"], finding["message"]))
    return found


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        self.request("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "jinja-check", "version": "1"},
        })
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("FAIL the server ended")
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer

    def get(self, prompt, arguments):
        """The text of a prompt, or the error."""
        answer = self.request("prompts/get", {"name": prompt, "arguments": arguments})
        if "error" in answer:
            return None, answer["error"]["message"]
        return "".join(message["content"]["text"] for message in answer["result"]["messages"]), None

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


class Comparison:
    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.codes = collections.Counter()

    def differ(self, number, template, what, **details):
        self.counts["differences"] += 1
        print(f"FAIL template {number} of seed {self.options.seed}: {what}")
        for name, value in details.items():
            print(f"  {name}: {value!r}")
        if self.counts["differences"] <= self.options.show:
            for path, text in dict(template.files, **{"main.j2": template.text}).items():
                print(f"  --- {path}\n{text}")
            print("  --- " + "; ".join(argument.kdl() for argument in template.arguments))

    def batch(self, numbers):
        folder = pathlib.Path(self.options.work) / f"batch-{numbers[0]}"
        templates = {number: generate.template(f"{self.options.seed}:{number}") for number in numbers}
        bundle = folder / "random.relay"
        write_project(folder, templates)
        while faults := build(self.options, folder, bundle):
            for number, findings in faults.items():
                self.check_refused(number, templates.pop(number), findings)
            write_project(folder, templates)
        server = Server([self.options.serve, bundle, "--trust", self.options.trust, "--stdio"])
        for number, template in templates.items():
            self.check_rendered(number, template, server)
        server.close()

    def check_refused(self, number, template, findings):
        """What relay refuses must fail in Jinja for some state of the arguments, or be refused by design."""
        self.counts["refused"] += 1
        self.codes.update({code for code, _ in findings})
        if any(code in BY_DESIGN for code, _ in findings):
            return
        states = [[(argument.name, state) for state in argument.states()] for argument in template.arguments]
        for state in itertools.product(*states):
            given = {name: value for name, value in state if value is not None}
            if rendered(template, given)[1] is not None:
                return
        self.differ(number, template, "relay refuses what Jinja renders", relay=findings[0])

    def check_rendered(self, number, template, server):
        self.counts["accepted"] += 1
        rng = random.Random(f"values of {self.options.seed}:{number}")
        seen = set()
        for _ in range(CALLS):
            given = {argument.name: argument.given(rng) for argument in template.arguments}
            given = {name: value for name, value in given.items() if value is not None}
            if (key := json.dumps(given, sort_keys=True)) in seen:
                continue
            seen.add(key)
            self.counts["renderings"] += 1
            theirs, error = rendered(template, given)
            ours, refusal = server.get(f"p{number}", given)
            if ours != theirs:
                self.differ(number, template, "another text", given=given, relay=ours or refusal, jinja=theirs or error)
                return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("relay")
    parser.add_argument("serve")
    parser.add_argument("work")
    parser.add_argument("--trust", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--only", type=int, help="the number of one template")
    parser.add_argument("--show", type=int, default=5, help="how many templates that differ are printed")
    options = parser.parse_args()
    comparison = Comparison(options)
    numbers = list(range(options.count)) if options.only is None else [options.only]
    for start in range(0, len(numbers), BATCH):
        comparison.batch(numbers[start : start + BATCH])
    counts = comparison.counts
    total = counts["accepted"] + counts["refused"]
    if comparison.codes:
        print("refused: " + ", ".join(f"{code} {count}" for code, count in comparison.codes.most_common()))
    enough = counts["accepted"] >= 0.6 * total or options.only is not None
    if not enough:
        print("FAIL too few of the templates are accepted for the comparison to mean something")
    print(
        f"jinja: {counts['renderings']} renderings of {counts['accepted']} templates compared, "
        f"{counts['refused']} templates refused, {counts['differences']} differences"
    )
    sys.exit(0 if enough and counts["differences"] == 0 else 1)


main()
