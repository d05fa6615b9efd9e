import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  getPath,
  isJsonObject,
  keysOf,
  type Json,
  parseJson,
  type PlacedValue,
  stringifyJson,
  withValues,
} from '../../base/json.ts'
import { Refusal } from '../../errors.ts'
import { textFrom } from '../command/ask-server.ts'
import { report, serverOf, wordsOf } from '../command/at-server.ts'
import { type ChosenServer, SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { jsonOrText, pairOf, readJson, readJsonFile } from '../command/json-input.ts'
import { KINDS, type Name, parseName, retrieve, type Revision, shownRevision } from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint commit NAME[:variant] [-m MESSAGE] (--set PATH=VALUE … | --file FILE | --edit) [--if-changed] [--json]
  branchpoint commit NAME --create [--template KEY] [-m MESSAGE] [--set PATH=VALUE … | --file FILE] [--json]

  Commits a new version of a prompt or another artifact after the latest one of its default variant, or of the variant named.

  NAME           as get takes it: support-bot, evaluators/exact, support-bot:warmer
  --message, -m  why; the server describes the change otherwise
  --set          changes one value of the data: parameters.prompt.messages.0.content='You are kind.' The value is JSON if it reads as
                 JSON, else text; a number in the path is a place in a list. Once or several times
  --file         the whole data as JSON; - is standard input
  --edit         opens the data in EDITOR (VISUAL, else vi) and commits what was saved
  --if-changed   makes no version if nothing changed
  --create       creates the artifact: a prompt, or an evaluator for evaluators/NAME
  --template     what it is created from, by the key of the catalog: auto_exact_match, completion, chat …
  --json         prints the server's answer
${SERVER_USAGE}

A version that somebody else committed between reading and writing is not overwritten: --set and --edit are refused then.

Example:
  branchpoint commit support-bot -m 'Cooler' --set parameters.prompt.llm_config.temperature=0.2`

/** The command `commit`: a new version. */
export const commitCommand: Command = { usage: USAGE, needsWords: true, run }

interface Options {
  readonly message?: string | undefined
  readonly set?: readonly string[] | undefined
  readonly file?: string | undefined
  readonly edit?: boolean | undefined
  readonly template?: string | undefined
  readonly json?: boolean | undefined
  readonly 'if-changed'?: boolean | undefined
}

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.commit.options, { usage: USAGE })
  const [word = ''] = wordsOf(positionals, { least: 1, missing: 'Name what to commit to.' }, USAGE)
  const name = parseName(word, USAGE)
  if (name.version !== undefined || name.environment !== undefined)
    throw new UsageError(
      `"${word}": a commit goes after the latest version; name the artifact or a variant.`,
      USAGE,
    )
  const { set = [], file, edit = false, create = false, template } = values
  const ways = [set.length > 0, file !== undefined, edit].filter(Boolean).length
  if (ways > 1 || (ways === 0 && !create))
    throw new UsageError('Say what to commit with one of --set, --file and --edit.', USAGE)
  if (create && (edit || values['if-changed'] || name.variant !== undefined))
    throw new UsageError('--create goes with --file or --set, and with no variant.', USAGE)
  if (template !== undefined && !create) throw new UsageError('--template goes with --create.', USAGE)
  const changes = set.map(changeOf)
  const whole = file === undefined ? undefined : await readJsonFile(file, '--file')
  const server = await serverOf(values, shell, USAGE)
  if (create) return made(server, name, values, whole ?? withValues({}, changes, '--set'), shell)
  const {
    artifact,
    revision,
    text: answer,
  } = await retrieve(server, name, { withRows: edit || set.length > 0 })
  const { path, singular } = artifact.kind
  const before = getPath(parseJson(answer), `${singular}_revision`, 'data') ?? {}
  const data =
    whole ?? (edit ? await edited(before, artifact.slug, shell) : withValues(before, changes, '--set'))
  if (data === undefined) {
    shell.progress.write('Nothing was changed, so nothing was committed.\n')
    return 0
  }
  const commit = {
    [`${singular}_variant_id`]: (revision as Revision & Readonly<Record<string, string>>)[
      `${singular}_variant_id`
    ],
    message: values.message,
    data,
    // A whole file does not depend on what was there before.
    ...(whole === undefined ? { base_revision_id: revision.id } : {}),
  }
  const body = stringifyJson({
    [`${singular}_revision_commit`]: commit,
    if_changed: values['if-changed'] || undefined,
  })
  const committed = await textFrom(server, 'POST', `/${path}/revisions/commit`, { body })
  const read = JSON.parse(committed) as Readonly<Record<string, Revision>> & { readonly changed?: boolean }
  const revisionNow = read[`${singular}_revision`] ?? revision
  const shown = shownRevision(artifact, revisionNow)
  report(
    shell,
    server,
    values.json,
    committed,
    read.changed === false ? `Nothing changed in ${shown}` : `Committed ${shown}`,
  )
  return 0
}

/** Creates an artifact, with its first version if there is data or a template. */
async function made(
  server: ChosenServer,
  name: Name,
  { message, template, json }: Options,
  data: Json,
  shell: Shell,
): Promise<number> {
  const { path, singular, one } = KINDS[name.kind ?? 'prompts']
  const isEmpty = isJsonObject(data) && keysOf(data).length === 0
  const artifact = { slug: name.slug, template, message, data: isEmpty ? undefined : data }
  const body = stringifyJson({ [singular]: artifact })
  const text = await textFrom(server, 'POST', `/simple/${path}/`, { body })
  report(shell, server, json, text, `Created the ${one} ${name.slug}`)
  return 0
}

function changeOf(text: string): PlacedValue {
  const [path, value] = pairOf(text, '--set', USAGE)
  return { path, value: jsonOrText(value) }
}

/** What the user's editor makes of the data; undefined if nothing changed. A text that is no JSON is kept, and named. */
async function edited(data: Json, slug: string, { environment }: Shell): Promise<Json | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-'))
  const path = join(folder, `${slug}.json`)
  const before = `${stringifyJson(data, 2)}\n`
  writeFileSync(path, before, { mode: 0o600 })
  const editor = environment['VISUAL'] || environment['EDITOR'] || 'vi'
  const ignore = (): void => undefined
  process.on('SIGINT', ignore) // it is for the editor, as git has it
  const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  process.off('SIGINT', ignore)
  const after = readFileSync(path, 'utf8')
  if (code !== 0)
    throw new Refusal(
      'invalid_request',
      `${editor} ended with ${code}; nothing was committed. Your text is in ${path}.`,
    )
  const value = after === before ? undefined : readJson(after, path)
  rmSync(folder, { recursive: true })
  return value
}
