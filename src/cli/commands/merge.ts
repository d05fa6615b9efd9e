import { Refusal } from '../../errors.ts'
import { ServerRefusal, textFrom } from '../command/ask-server.ts'
import { report, serverOf, wordsOf } from '../command/at-server.ts'
import { type ChosenServer, SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import {
  type Artifact,
  type Name,
  parseName,
  retrieve,
  type Revision,
  shownRevision,
} from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { harmless } from '../command/terminal.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const SHARED_USAGE = `  --message, -m  of the commit
  --take         how every conflict is to end: source takes what is merged, target what is there
  --dry-run      stores nothing, and says what would be
  --json         prints the server's answer
${SERVER_USAGE}

  Conflicts are listed, and nothing is stored: exit code 1.`

const MERGE_USAGE = `branchpoint merge NAME:SOURCE NAME[:TARGET] [-m MESSAGE] [--take source|target] [--dry-run] [--json]

  Merges a variant, a version or what an environment runs into a variant.

  SOURCE, TARGET variants; the target is the default one unless named. NAME@3 and NAME@production are sources, too
${SHARED_USAGE}

Example:
  branchpoint merge support-bot:warmer support-bot -m 'Warmer answers'`

const REVERT_USAGE = `branchpoint revert NAME@VERSION [-m MESSAGE] [--take source|target] [--dry-run] [--json]

  Undoes what a version changed, in a new version on its variant; what came later stays.

  NAME@VERSION   support-bot@3, or support-bot:warmer@3
${SHARED_USAGE}

Example:
  branchpoint revert support-bot@3 -m 'Too long'`

/** The command `merge`: one variant into another. */
export const mergeCommand: Command = { usage: MERGE_USAGE, needsWords: true, run: merge }

/** The command `revert`: undoes a version. */
export const revertCommand: Command = { usage: REVERT_USAGE, needsWords: true, run: revert }

interface Options {
  readonly message?: string | undefined
  readonly take?: string | undefined
  readonly 'dry-run'?: boolean | undefined
  readonly json?: boolean | undefined
}

async function merge(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.merge.options, { usage: MERGE_USAGE })
  const needed = { least: 2, missing: 'Name the source and the target.' }
  const [first = '', second = ''] = wordsOf(positionals, needed, MERGE_USAGE)
  const from = parseName(first, MERGE_USAGE)
  const into = parseName(second, MERGE_USAGE)
  if (into.version !== undefined || into.environment !== undefined)
    throw new UsageError(
      `"${second}": the target is a variant; name it as NAME or NAME:variant.`,
      MERGE_USAGE,
    )
  const options = optionsOf(values, MERGE_USAGE)
  const server = await serverOf(values, shell, MERGE_USAGE)
  const [source, target] = [await retrieve(server, from), await retrieve(server, into)]
  const isRevision = from.version !== undefined || from.environment !== undefined
  const body = {
    source: isRevision ? { revision: { id: source.revision.id } } : sideOf(source),
    target: sideOf(target),
    ...options,
  }
  const { kind } = target.artifact
  return written(
    server,
    `/${kind.path}/variants/merge`,
    body,
    { values, artifact: target.artifact, shell },
    (made) =>
      made === undefined ? `${second} has everything that ${first} has` : `Merged ${first} into ${made}`,
  )
}

async function revert(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.revert.options, { usage: REVERT_USAGE })
  const [word = ''] = wordsOf(positionals, { least: 1, missing: 'Name the version to undo.' }, REVERT_USAGE)
  const name: Name = parseName(word, REVERT_USAGE)
  if (name.version === undefined)
    throw new UsageError(`"${word}" names no version; write NAME@VERSION.`, REVERT_USAGE)
  const options = optionsOf(values, REVERT_USAGE)
  const server = await serverOf(values, shell, REVERT_USAGE)
  const { artifact, revision } = await retrieve(server, name)
  // A version may be on several variants.
  const target = sideOf(await retrieve(server, { ...name, version: undefined }))
  const body = { revision: { id: revision.id }, target, ...options }
  return written(
    server,
    `/${artifact.kind.path}/revisions/revert`,
    body,
    { values, artifact, shell },
    (made) => (made === undefined ? `Nothing of ${word} is left to undo` : `Reverted ${word} in ${made}`),
  )
}

function optionsOf({ message, take, 'dry-run': dryRun = false }: Options, usage: string): object {
  if (take !== undefined && take !== 'source' && take !== 'target')
    throw new UsageError(`--take: "${take}" is neither source nor target.`, usage)
  return { message, dry_run: dryRun, ...(take === undefined ? {} : { resolutions: [{ all: take }] }) }
}

function sideOf({
  artifact,
  revision,
}: {
  readonly artifact: Artifact
  readonly revision: Revision
}): object {
  const id = (revision as Revision & Readonly<Record<string, string>>)[`${artifact.kind.singular}_variant_id`]
  return { variant: { id } }
}

interface Around {
  readonly values: Options
  readonly artifact: Artifact
  readonly shell: Shell
}

interface Conflict {
  readonly place: unknown
  readonly kind: string
  readonly marked?: string
}

/** Sends a merge or a revert, and says what came of it; `sentence` gets the new version, or nothing if there is none. */
async function written(
  server: ChosenServer,
  path: string,
  body: object,
  { values, artifact, shell }: Around,
  sentence: (made: string | undefined) => string,
): Promise<number> {
  const text = await textFrom(server, 'POST', path, { body }).catch((error: unknown) => {
    if (!(error instanceof ServerRefusal)) throw error
    if (error.problem.code !== 'merge_conflict') throw error
    const conflicts = (error.problem.conflicts ?? []) as unknown as readonly Conflict[]
    const sentence =
      'Both sides changed the same, each in its own way; nothing was stored. Choose with --take source or --take target:'
    throw new Refusal('merge_conflict', [sentence, ...conflicts.map(shownConflict)].join('\n'))
  })
  const answer = JSON.parse(text) as Readonly<Record<string, Revision>> & {
    readonly merge: { readonly kind: string; readonly conflicts: readonly Conflict[] }
  }
  const { kind, conflicts } = answer.merge
  const made = answer[`${artifact.kind.singular}_revision`]
  if (values['dry-run']) {
    const found = conflicts.map(shownConflict)
    const way = kind.replace('_', ' ')
    const would =
      found.length === 0
        ? `This would be done without conflicts (${way})`
        : `There would be conflicts (${way})`
    report(shell, server, values.json, text, would)
    if (found.length > 0 && !values.json) await shell.show(found.join('\n'))
    return found.length > 0 ? 1 : 0
  }
  report(
    shell,
    server,
    values.json,
    text,
    sentence(kind === 'up_to_date' || !made ? undefined : shownRevision(artifact, made)),
  )
  return 0
}

/** `  /parameters/temperature: both changed`, and the lines of a text with git's marks. */
function shownConflict({ place, kind, marked }: Conflict): string {
  const where = typeof place === 'string' ? place : JSON.stringify(place)
  const lines = marked === undefined ? [] : marked.trimEnd().split('\n')
  return [`  ${where}: ${kind.replaceAll('_', ' ')}`, ...lines.map((line) => `    ${harmless(line)}`)].join(
    '\n',
  )
}
