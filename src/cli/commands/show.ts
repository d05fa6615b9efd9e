import { entriesOf, isJsonObject, type Json } from '../../base/json.ts'
import { askServer } from '../command/ask-server.ts'
import { authorName, serverOf, wordsOf } from '../command/at-server.ts'
import { type ChosenServer, SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import {
  type Artifact,
  findArtifact,
  NAME_USAGE,
  parseName,
  referencesOf,
  type Revision,
} from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { oneLine, shownTime } from '../command/terminal.ts'
import { textTable } from '../command/text-table.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint show NAME [--json]

  Prints the record of an artifact: its name, description, folder, tags and variants, its ten newest versions, and where it is deployed.

${NAME_USAGE}
  --json         prints what the server answers about it, as one object
${SERVER_USAGE}

Example:
  branchpoint show support-bot`

/** The command `show`: the record of an artifact. */
export const showCommand: Command = { usage: USAGE, needsWords: true, run }

const SHOWN_VERSIONS = 10

interface ArtifactRecord {
  readonly slug: string
  readonly name?: string
  readonly description?: string
  readonly folder?: string
  readonly tags?: Json
  readonly git_url: string
  readonly created_at: string
  readonly deleted_at?: string
}

interface Deployment {
  readonly environment: { readonly slug: string }
  readonly artifact?: { readonly id: string }
  readonly revision?: { readonly version: number | string }
  readonly since: { readonly author: string; readonly date: string; readonly message?: string }
  readonly behind?: number
}

/** Members of the server's answers about one artifact. */
interface Whole {
  readonly record: ArtifactRecord
  readonly variants: readonly { readonly slug: string; readonly deleted_at?: string }[]
  readonly revisions: readonly Revision[]
  readonly deployments: readonly Deployment[]
}

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.show.options, { usage: USAGE })
  const [word = ''] = wordsOf(
    positionals,
    { least: 1, missing: 'Name one prompt, or another artifact.' },
    USAGE,
  )
  const name = parseName(word, USAGE)
  const server = await serverOf(values, shell, USAGE)
  const artifact = await findArtifact(server, name)
  const { path, singular } = artifact.kind
  const ask = <T>(method: string, route: string, body?: object): Promise<T> =>
    askServer<T>(server, method, route, body ? { body } : {})
  const [record, variants, revisions, deployments] = await Promise.all([
    ask<Readonly<Record<string, ArtifactRecord>>>('GET', `/${path}/${artifact.id}`),
    ask<Readonly<Record<string, Whole['variants']>>>('POST', `/${path}/variants/query`, {
      [`${singular}_refs`]: [{ id: artifact.id }],
    }),
    newestOf(server, artifact, referencesOf(artifact, name)),
    ask<{ readonly deployments: readonly Deployment[] }>('POST', '/deployments/query', {
      deployment: { artifact_slug: artifact.slug },
    }),
  ])
  const whole: Whole = {
    record: record[singular] ?? { slug: artifact.slug, git_url: '', created_at: '' },
    variants: variants[`${singular}_variants`] ?? [],
    revisions,
    deployments: deployments.deployments.filter((it) => it.artifact?.id === artifact.id),
  }
  await shell.show(
    values.json
      ? JSON.stringify({
          [singular]: whole.record,
          [`${singular}_variants`]: whole.variants,
          [`${singular}_revisions`]: whole.revisions,
          deployments: whole.deployments,
        })
      : recordOf(artifact, whole, shell),
  )
  return 0
}

async function newestOf(
  server: ChosenServer,
  { kind }: Artifact,
  references: object,
): Promise<readonly Revision[]> {
  const body = { ...references, windowing: { limit: SHOWN_VERSIONS } }
  const answer = await askServer<Readonly<Record<string, readonly Revision[]>>>(
    server,
    'POST',
    `/${kind.path}/revisions/log`,
    { body },
  )
  return answer[`${kind.singular}_revisions`] ?? []
}

function recordOf({ id, kind }: Artifact, whole: Whole, { terminal }: Shell): string {
  const { record, variants, revisions, deployments } = whole
  const time = (date: string): string => shownTime(date, terminal)
  const fields: readonly (readonly [string, string | undefined])[] = [
    [kind.one, record.slug],
    ['title', record.name],
    ['description', record.description],
    ['folder', record.folder],
    ['tags', tagsOf(record.tags)],
    ['id', id],
    [
      'variants',
      variants.map((it) => `${it.slug}${it.deleted_at === undefined ? '' : ' (archived)'}`).join(', '),
    ],
    ['created', time(record.created_at)],
    ['archived', record.deleted_at && time(record.deleted_at)],
    ['git', record.git_url],
  ]
  const shown = fields.flatMap(([title, text]) => (text ? [[title, oneLine(text)]] : []))
  const versions = revisions.map((it) => [
    `@${it.version}`,
    time(it.date),
    authorName(it.author),
    oneLine(it.subject),
  ])
  const running = deployments.map(({ environment, revision, since, behind }) => [
    environment.slug,
    revision ? `@${revision.version}` : '',
    String(behind ?? ''),
    time(since.date),
    authorName(since.author),
    oneLine(since.message ?? ''),
  ])
  const table = (titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
    rows.length === 0 ? [] : [`\n${textTable([titles, ...rows], terminal.columns)}`]
  return [
    textTable(shown),
    ...table(['DEPLOYED', 'VERSION', 'BEHIND', 'SINCE', 'WHO', 'WHY'], running),
    ...table(['VERSION', 'WHEN', 'WHO', 'WHAT'], versions),
  ].join('\n')
}

/** `team: billing, beta`. */
function tagsOf(tags: Json | undefined): string {
  if (!isJsonObject(tags)) return ''
  return entriesOf(tags)
    .map(([key, value]) =>
      value === true ? key : `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join(', ')
}
