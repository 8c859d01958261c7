// Written by `relay hook install opencode`; `relay hook install opencode --remove` takes it away.
// MARK
//
// Each call of a tool goes to relay-hook, and runs only if that answers with an allow. The start of a
// session goes there too: the list of prompts joins the system text.

import { spawn } from "node:child_process"

const PROGRAM = [PROGRAM_JSON]
const TIMEOUT_MS = 10000
const OUTPUT_BYTES_MAX = 65536
const CALLS_MAX = 256
const SESSIONS_MAX = 256

// Runs relay-hook with one event and returns its answer; throws unless it is an allow.
function ask(event) {
  return new Promise((resolve, reject) => {
    const deny = (reason) => reject(new Error(reason.trim() || "[DENIED: relay-hook did not answer]"))
    let child
    try {
      child = spawn(PROGRAM[0], PROGRAM.slice(1), { shell: false, stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return deny(`[DENIED: relay-hook cannot be started: ${error.message}]`)
    }
    let out = ""
    let err = ""
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      deny(`[DENIED: relay-hook did not answer within ${TIMEOUT_MS / 1000} s]`)
    }, TIMEOUT_MS)
    child.on("error", (error) => {
      clearTimeout(timer)
      deny(`[DENIED: relay-hook cannot be started: ${error.message}]`)
    })
    // An end of its input that is closed early shows in its exit code.
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stderr.setEncoding("utf8")
    child.stdout.on("data", (text) => {
      out += text
      if (out.length > OUTPUT_BYTES_MAX) child.kill("SIGKILL")
    })
    child.stderr.on("data", (text) => {
      if (err.length < OUTPUT_BYTES_MAX) err += text
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      let answer
      try {
        answer = JSON.parse(out)
      } catch {
        return deny(`[DENIED: relay-hook did not answer] ${err}`)
      }
      if (code === 0 && answer?.decision === "allow") return resolve(answer)
      deny(typeof answer?.reason === "string" ? answer.reason : err)
    })
    child.stdin.end(JSON.stringify(event))
  })
}

// Keeps a value by its key; the oldest makes room.
function keep(map, most, key, value) {
  if (map.size >= most) map.delete(map.keys().next().value)
  map.set(key, value)
}

export default {
  id: "relay",
  server: async (context) => {
    const texts = new Map()
    const starts = new Map()
    return {
      "tool.execute.before": async (input, output) => {
        const answer = await ask({
          hook: "tool.execute.before",
          tool: input.tool,
          sessionID: input.sessionID,
          callID: input.callID,
          args: output.args,
          directory: context?.directory,
        })
        if (typeof answer.context === "string") {
          // A call that never ends keeps its text.
          keep(texts, CALLS_MAX, input.callID, answer.context)
        }
      },
      // The text of relay for the model goes behind what the tool returned.
      "tool.execute.after": async (input, output) => {
        const text = texts.get(input.callID)
        texts.delete(input.callID)
        if (text !== undefined && typeof output?.output === "string") output.output += `\n\n${text}`
      },
      // OpenCode makes the system text anew for each request; relay is asked once a session.
      "experimental.chat.system.transform": async (input, output) => {
        const sessionID = input?.sessionID
        if (typeof sessionID !== "string" || !Array.isArray(output?.system)) return
        if (!starts.has(sessionID)) {
          const start = ask({ hook: "session.start", sessionID, directory: context?.directory })
          // Without an answer the session begins without the list; its calls are denied one by one.
          const text = start.then((answer) => answer.context, () => undefined)
          keep(starts, SESSIONS_MAX, sessionID, text)
        }
        const text = await starts.get(sessionID)
        if (typeof text === "string") output.system.push(text)
      },
    }
  },
}
