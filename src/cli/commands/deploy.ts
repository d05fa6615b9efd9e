import { COMMAND } from '../../command-name.ts'
import { Refusal } from '../../errors.ts'
import { askServer, textFrom } from '../command/ask-server.ts'
import { report, serverOf, wordsOf } from '../command/at-server.ts'
import { type ChosenServer, SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import {
  type Artifact,
  NAME_USAGE,
  parseName,
  retrieve,
  type Revision,
  shownRevision,
} from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'

const DEPLOY_USAGE = `branchpoint deploy NAME ENVIRONMENT [-m MESSAGE] [--json]

  Makes an environment run a version. NAME@staging deploys what staging runs.

${NAME_USAGE}
  ENVIRONMENT    production, or another one that list environments shows
  --message, -m  why
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint deploy support-bot@3 production -m 'First release'`

const ROLLBACK_USAGE = `branchpoint rollback NAME ENVIRONMENT [-m MESSAGE] [--json]

  Deploys the version again that an environment ran before the present one. Again, it goes one further back.

  NAME           of a prompt, an evaluator or a workflow
  ENVIRONMENT    production, or another one that list environments shows
  --message, -m  why
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint rollback support-bot production -m 'Too slow'`

/** The command `deploy`: an environment runs a version. */
export const deployCommand: Command = { usage: DEPLOY_USAGE, needsWords: true, run: deploy }

/** The command `rollback`: an environment runs again what it ran before. */
export const rollbackCommand: Command = { usage: ROLLBACK_USAGE, needsWords: true, run: rollBack }

const NEEDED = { least: 2, missing: 'Name what to deploy, and the environment.' }

async function deploy(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.deploy.options, { usage: DEPLOY_USAGE })
  const [word = '', environment = ''] = wordsOf(positionals, NEEDED, DEPLOY_USAGE)
  const name = parseName(word, DEPLOY_USAGE)
  const server = await serverOf(values, shell, DEPLOY_USAGE)
  const { artifact, revision } = await retrieve(server, name)
  await deployRevision(server, artifact, revision, { environment, ...values }, shell)
  return 0
}

async function rollBack(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.rollback.options, { usage: ROLLBACK_USAGE })
  const [word = '', environment = ''] = wordsOf(positionals, NEEDED, ROLLBACK_USAGE)
  const name = parseName(word, ROLLBACK_USAGE)
  if (name.variant !== undefined || name.version !== undefined || name.environment !== undefined)
    throw new UsageError(
      `"${word}": a rollback finds the version itself; to choose it, deploy it.`,
      ROLLBACK_USAGE,
    )
  const server = await serverOf(values, shell, ROLLBACK_USAGE)
  const { artifact, revision } = await retrieve(server, { ...name, environment })
  const before = await ranBefore(server, environment, artifact, revision)
  const message = values.message ?? `Roll back to ${shownRevision(artifact, before)}`
  await deployRevision(server, artifact, before, { environment, message, json: values.json }, shell)
  return 0
}

async function deployRevision(
  server: ChosenServer,
  artifact: Artifact,
  revision: Revision,
  {
    environment,
    message,
    json,
  }: {
    readonly environment: string
    readonly message?: string | undefined
    readonly json?: boolean | undefined
  },
  shell: Shell,
): Promise<void> {
  const { path, singular } = artifact.kind
  const body = {
    [`${singular}_revision_ref`]: { id: revision.id },
    environment_ref: { slug: environment },
    message,
  }
  const text = await textFrom(server, 'POST', `/${path}/revisions/deploy`, { body })
  const { deployments } = JSON.parse(text) as {
    readonly deployments: readonly { readonly changed: boolean }[]
  }
  const shown = shownRevision(artifact, revision)
  const isNew = deployments.some((it) => it.changed)
  report(
    shell,
    server,
    json,
    text,
    isNew ? `Deployed ${shown} to ${environment}` : `${environment} runs ${shown} already`,
  )
}

interface Target {
  readonly artifact?: string
  readonly revision?: string
}

interface Entry {
  readonly moved: readonly { readonly key: string; readonly from?: Target; readonly to?: Target }[]
}

interface Page {
  readonly entries: readonly Entry[]
  readonly windowing?: { readonly next: string }
}

/**
 * What the environment ran before it ran this revision for the first time: so a second rollback goes one further back, and not forward again.
 * Refuses if there is nothing.
 */
async function ranBefore(
  server: ChosenServer,
  environment: string,
  { slug, kind }: Artifact,
  present: Revision,
): Promise<Revision> {
  let before: Target | undefined
  let next: string | undefined
  do {
    const body = { environment_ref: { slug: environment }, windowing: { limit: PAGE, next } }
    const { entries, windowing } = await askServer<Page>(server, 'POST', '/deployments/log', { body })
    for (const { from, to } of entries.flatMap((it) => it.moved)) {
      const isMeant = (from ?? to)?.artifact === slug && to?.revision === present.slug
      if (isMeant) before = from
    }
    next = windowing?.next
  } while (next !== undefined)
  if (before?.revision === undefined)
    throw new Refusal(
      'invalid_request',
      `${environment} ran no other version of ${slug} before it ran ${present.slug} for the first time. Choose one: ${COMMAND} deploy ${slug}@VERSION ${environment}`,
    )
  const { path, singular } = kind
  const body = { [`${singular}_ref`]: { slug }, [`${singular}_revision_ref`]: { slug: before.revision } }
  const answer = await askServer<Readonly<Record<string, Revision>>>(
    server,
    'POST',
    `/${path}/revisions/retrieve`,
    { body },
  )
  const found = answer[`${singular}_revision`]
  if (found) return found
  throw new Refusal(
    'revision_not_found',
    `${before.revision}, which ${environment} ran before, is not there any more.`,
  )
}

const PAGE = 100
