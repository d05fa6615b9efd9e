import { getPath, isJsonObject, parseJson, stringifyJson, withKey } from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import { textFrom } from '../command/ask-server.ts'
import { serverOf, wordsOf } from '../command/at-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { jsonOrText, pairOf, readJsonFile } from '../command/json-input.ts'
import { findArtifact, NAME_USAGE, parseName, retrieve } from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { harmless } from '../command/terminal.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint run NAME [--input NAME=VALUE …] [--inputs FILE] [--outputs VALUE] [--json]

  Runs a prompt, an evaluator or a workflow on the server, and prints what comes out: a text as it is, anything else as JSON.

${NAME_USAGE}
  --input        one input: country=Norway. The value is JSON if it reads as JSON, else text. Once or several times
  --inputs       a JSON file of all inputs; - is standard input
  --outputs      for an evaluator: the output to judge, JSON or text
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint run capitals@production --input country=Norway`

/** The command `run`: what a prompt answers. */
export const runCommand: Command = { usage: USAGE, needsWords: true, run }

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.run.options, { usage: USAGE })
  const [word = ''] = wordsOf(positionals, { least: 1, missing: 'Name what to run.' }, USAGE)
  const name = parseName(word, USAGE)
  const pairs = (values.input ?? []).map((text) => pairOf(text, '--input', USAGE))
  const file = values.inputs === undefined ? {} : await readJsonFile(values.inputs, '--inputs')
  if (!isJsonObject(file))
    throw new Refusal('invalid_request', '--inputs: the file holds no object of inputs.')
  const inputs = pairs.reduce((all, [key, value]) => withKey(all, key, jsonOrText(value)), file)
  const server = await serverOf(values, shell, USAGE)
  const outputs = values.outputs === undefined ? undefined : jsonOrText(values.outputs)
  const body = stringifyJson({ references: await referencesOf(), data: { inputs, outputs } })
  const text = await textFrom(server, 'POST', '/services/invoke', { body })
  const answer = parseJson(text)
  const out = getPath(answer, 'data', 'outputs') ?? null
  const shown = typeof out === 'string' ? out : stringifyJson(out, 2)
  await shell.show(values.json ? text : shell.terminal.isTTY ? harmless(shown) : shown)
  const trace = getPath(answer, 'trace_id')
  shell.progress.write(`Ran ${word} at ${server.url}. How: branchpoint traces show ${String(trace)}\n`)
  return 0

  /** By the environment, so that the trace names it; else by the revision. */
  async function referencesOf(): Promise<object> {
    const { environment } = name
    if (environment !== undefined) {
      const { id, kind } = await findArtifact(server, name)
      return { [kind.singular]: { id }, environment: { slug: environment } }
    }
    const { artifact, revision } = await retrieve(server, name)
    return { [`${artifact.kind.singular}_revision`]: { id: revision.id } }
  }
}
