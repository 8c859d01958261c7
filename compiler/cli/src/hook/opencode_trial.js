// Loads the plugin in argv[1] as OpenCode does, and calls it with the event on standard input.
import { readFileSync } from "node:fs"

const text = readFileSync(process.argv[1], "utf8")
const url = `data:text/javascript;base64,${Buffer.from(text).toString("base64")}`
const event = JSON.parse(readFileSync(0, "utf8"))
const plugin = (await import(url)).default
const hooks = await plugin.server({ directory: event.directory })
try {
  const { tool, sessionID, callID, args } = event
  await hooks["tool.execute.before"]({ tool, sessionID, callID }, { args })
  process.stdout.write("allow")
} catch (error) {
  process.stderr.write(error.message)
  process.exitCode = 2
}
