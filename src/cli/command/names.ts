import { Refusal } from '../../errors.ts'
import { askServer, textFrom } from './ask-server.ts'
import type { ChosenServer } from './chosen-server.ts'
import { UsageError } from './usage-error.ts'

/** What the command line calls each kind of artifacts, with the API's words. */
export const KINDS = {
  prompts: { path: 'applications', singular: 'application', one: 'prompt', family: 'workflow' },
  evaluators: { path: 'evaluators', singular: 'evaluator', one: 'evaluator', family: 'workflow' },
  workflows: { path: 'workflows', singular: 'workflow', one: 'workflow', family: 'workflow' },
  testsets: { path: 'testsets', singular: 'testset', one: 'testset', family: 'testset' },
  environments: { path: 'environments', singular: 'environment', one: 'environment', family: 'environment' },
  queries: { path: 'queries', singular: 'query', one: 'query', family: 'query' },
} as const

export type KindName = keyof typeof KINDS
export type Kind = (typeof KINDS)[KindName]

/** How names are written, in the usage of the commands that take one. */
export const NAME_USAGE = `  NAME           of a prompt, an evaluator, a workflow, a testset, an environment or a query; prompts/NAME, testsets/NAME and so on
                 where several have it. Alone it means the latest version of the default variant; NAME@3 is version 3,
                 NAME@production what runs there, NAME:warmer the latest of a variant, NAME:warmer@3 its version 3`

/** A name on the command line, taken apart. */
export interface Name {
  readonly kind: KindName | undefined
  readonly slug: string
  readonly variant: string | undefined
  readonly version: number | undefined
  readonly environment: string | undefined
}

/** An artifact of the server. */
export interface Artifact {
  readonly id: string
  readonly slug: string
  readonly kind: Kind
}

/** A revision, as the server answers it. */
export interface Revision {
  readonly id: string
  readonly slug: string
  readonly version: number | string
  readonly author: string
  readonly date: string
  readonly message?: string
  readonly subject: string
}

const SLUG = '[A-Za-z0-9_][A-Za-z0-9_.-]*'
const NAME = new RegExp(`^(?:([a-z]+)/)?(${SLUG})(?::(${SLUG}))?(?:@(${SLUG}))?$`)

/** Takes a name apart. After `@`, digits alone are a version. Throws a UsageError that shows the forms. */
export function parseName(text: string, usage: string): Name {
  const [, word, slug, variant, at] = NAME.exec(text) ?? []
  const kind =
    word === 'applications' ? 'prompts' : (Object.keys(KINDS) as KindName[]).find((it) => it === word)
  if (slug === undefined || (word !== undefined && kind === undefined)) {
    const forms = 'write NAME, NAME@version, NAME@environment or NAME:variant, or prompts/NAME and so on'
    throw new UsageError(`${JSON.stringify(text)} is not a name: ${forms}.`, usage)
  }
  const version = at !== undefined && /^[0-9]+$/.test(at) ? Number(at) : undefined
  const environment = version === undefined ? at : undefined
  if (variant !== undefined && environment !== undefined)
    throw new UsageError(`"${text}" names a variant and an environment; leave one out.`, usage)
  return { kind, slug, variant, version, environment }
}

interface Found {
  readonly id: string
  readonly slug: string
  readonly flags?: Readonly<Record<string, boolean>>
}

/**
 * The artifact of a name, archived or not. Throws the server's refusal, which suggests near names, if there is none, and a Refusal if several
 * families have the name.
 */
export async function findArtifact(server: ChosenServer, { kind, slug }: Name): Promise<Artifact> {
  const among = kind === undefined ? FAMILIES : [KINDS[kind]]
  const reference = UUID.test(slug) ? { id: slug } : { slug }
  const found = await Promise.all(
    among.map(async ({ path, singular, ...its }) => {
      const body = { [`${singular}_refs`]: [reference], include_archived: true }
      const answer = await askServer<Readonly<Record<string, readonly Found[]>>>(
        server,
        'POST',
        `/${path}/query`,
        {
          body,
        },
      )
      return (answer[path] ?? []).map((it) => ({ ...it, kind: { path, singular, ...its } as Kind }))
    }),
  )
  const [first, second] = found.flat()
  if (!first) {
    const { path, singular } = KINDS[kind ?? 'prompts']
    const body = { [`${singular}_ref`]: reference }
    await askServer(server, 'POST', `/${path}/revisions/retrieve`, { body }) // the refusal names what is near
    throw new Refusal('artifact_not_found', `There is no ${singular} "${slug}".`)
  }
  if (second) {
    const names = found.flat().map((it) => `${wordOf(it.kind)}/${slug}`)
    throw new Refusal(
      'invalid_request',
      `Several have the name "${slug}": ${names.join(', ')}. Write one of these.`,
    )
  }
  const role = first.flags?.['is_application']
    ? 'prompts'
    : first.flags?.['is_evaluator']
      ? 'evaluators'
      : undefined
  return { id: first.id, slug: first.slug, kind: role === undefined ? first.kind : KINDS[role] }
}

/** One of each family: prompts and evaluators are workflows. */
const FAMILIES = [KINDS.workflows, KINDS.testsets, KINDS.environments, KINDS.queries]
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function wordOf(kind: Kind): string {
  return Object.entries(KINDS).find(([, it]) => it.path === kind.path)?.[0] ?? kind.path
}

/** The references of a name in a request. */
export function referencesOf({ id, kind }: Artifact, { variant, version, environment }: Name): object {
  return {
    [`${kind.singular}_ref`]: { id },
    ...(variant === undefined ? {} : { [`${kind.singular}_variant_ref`]: { slug: variant } }),
    ...(version === undefined ? {} : { [`${kind.singular}_revision_ref`]: { version } }),
    ...(environment === undefined ? {} : { environment_ref: { slug: environment } }),
  }
}

/** Retrieves what a name means, of a testset without its rows unless asked for; `text` is the server's answer exactly. */
export async function retrieve(
  server: ChosenServer,
  name: Name,
  { withRows = false }: { readonly withRows?: boolean } = {},
): Promise<{ readonly artifact: Artifact; readonly revision: Revision; readonly text: string }> {
  const artifact = await findArtifact(server, name)
  const { path, singular } = artifact.kind
  const rows = singular === 'testset' && !withRows ? WITHOUT_ROWS : {}
  const body = { ...referencesOf(artifact, name), ...rows }
  const text = await textFrom(server, 'POST', `/${path}/revisions/retrieve`, { body })
  const answer = JSON.parse(text) as Readonly<Record<string, Revision>>
  const revision = answer[`${singular}_revision`]
  if (revision) return { artifact, revision, text }
  throw new Refusal('revision_not_found', `"${artifact.slug}" has no version yet.`)
}

const WITHOUT_ROWS = { include_testcases: false, include_testcase_ids: false }

/** `support-bot@3` or `support-bot:warmer@3`, as a name on the command line; of a revision with a slug of its own, that. */
export function shownRevision({ slug }: Artifact, { slug: own, version }: Revision): string {
  const numbered = `-${version}`
  if (!own.endsWith(numbered)) return `${slug} version ${version} (${own})`
  const variant = own.slice(0, -numbered.length)
  return variant === slug ? `${slug}@${version}` : `${slug}:${variant}@${version}`
}
