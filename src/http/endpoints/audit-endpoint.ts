import { hash } from 'node:crypto'
import { basename } from 'node:path'
import { z } from 'zod'
import {
  type ApiKey,
  DEFAULT_PROJECT,
  keyAuthor,
  listApiKeys,
  principalOf,
  projectRecords,
  type SessionAct,
} from '../../access/keys.ts'
import type { ProjectSecrets } from '../../access/secrets.ts'
import { Refusal } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { type RecordedArtifact, trashActs } from '../../registry/artifacts.ts'
import { type LoggedDeployment, logDeployments, referencesTo } from '../../registry/environments.ts'
import { type Arrival, arrivalsOf } from '../../registry/push.ts'
import { cutWindow, type Pin, type Registry, type Windowing } from '../../registry/registries.ts'
import { addArtifactActs, dateOf, type Revision } from '../../registry/revisions.ts'
import type { Fs } from '../../storage/files.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { respondWithList } from '../routing/send.ts'
import { list } from '../schemas/record-schemas.ts'
import { windowing } from '../schemas/request-schemas.ts'
import { envelope } from '../schemas/spellings.ts'

/** Where the records of a project are. */
export interface AuditPlace {
  readonly fs: Fs
  readonly storeDir: string
  readonly sessions: { acts(project: string): readonly SessionAct[] }
  secretsOf(registry: Registry): Pick<ProjectSecrets, 'acts'>
  /** The time limit of a list, in milliseconds. */
  readonly mostMs?: number
}

const KINDS = ['key', 'secret', 'session', 'guard', 'archive', 'trash', 'deployment', 'project'] as const
type Kind = (typeof KINDS)[number]

const ACTIONS = [
  ...(['created', 'revoked', 'set', 'removed', 'began', 'ended', 'guarded', 'unguarded'] as const),
  ...(['archived', 'unarchived', 'trashed', 'undeleted', 'deployed'] as const),
] as const

/** `POST /audit/query`: who did what in the project, and when, from the records that are there (interface 14.9). */
export function auditEndpoint(place: AuditPlace): Endpoint {
  return endpoint({
    method: 'POST',
    path: '/audit/query',
    tag: 'projects',
    summary:
      'Who made and revoked keys, set secrets, signed in, guarded, archived, trashed, deployed and made projects, and when',
    scope: 'admin',
    optionalBody: true,
    input: envelope({
      filter: { names: ['audit'], schema: auditFilter },
      windowing: { names: ['windowing'], schema: windowing },
    }),
    output: list('entries', entry),
    example: { audit: { kind: ['key', 'secret'] }, windowing: { limit: 20 } },
    run: async ({ registry, input: { filter = {}, windowing: asked }, untilGone }) => {
      const kinds = new Set<Kind>(filter.kind ?? KINDS)
      const keys = listApiKeys(place.fs, place.storeDir, basename(registry.store.folder))
      const slice = new TimeSlice(untilGone(), tooLong, place.mostMs)
      const { principal: by } = filter
      const keep = ({ principal }: Row['value']): boolean =>
        by === undefined || principal?.id === by || principal?.name === by
      const wanted = new WantedActs(asked, keys, keep)
      await addActs(registry, kinds, { ...place, keys, wanted, slice })
      const window = await cutWindow(wanted.inOrder(), asked, keep)
      return respondWithList('entries', window, asked, window.rows)
    },
  })
}

function tooLong(): Refusal {
  return new Refusal(
    'query_too_slow',
    'Reading the histories of the project took too long. Name the kinds that are wanted, or a time (windowing.oldest) from which on.',
  )
}

type Row = ReturnType<typeof present>

/** Collects the acts that a page may show. They are added by source, the newest first. */
class WantedActs {
  readonly #rows: Row[] = []
  readonly #keys: readonly ApiKey[]
  readonly #keep: (entry: Row['value']) => boolean
  /** Acts count for the page if they are older than this. */
  readonly #before: number
  readonly #oldest: number
  /** How many acts fill the page and tell that there are more; infinite where the page has to know all. */
  readonly #most: number
  /** The times of the newest of these, the newest first. */
  readonly #newest: number[] = []

  constructor(asked: Windowing | undefined, keys: readonly ApiKey[], keep: (entry: Row['value']) => boolean) {
    this.#keys = keys
    this.#keep = keep
    const cursor = asked?.next === undefined ? Infinity : timeIn(asked.next)
    this.#before = Math.min(cursor, asked?.newest === undefined ? Infinity : Date.parse(asked.newest))
    this.#oldest = asked?.oldest === undefined ? -Infinity : Date.parse(asked.oldest)
    const { limit = Infinity, order = 'descending', count_total: isCounted = false } = asked ?? {}
    const isNewestFirst = asked !== undefined && (order === 'descending' || order === '-created')
    this.#most = isNewestFirst && !isCounted ? limit + 1 : Infinity
  }

  needs(time: number): boolean {
    return time >= this.#oldest && time >= (this.#newest[this.#most - 1] ?? -Infinity)
  }

  add(act: Act): void {
    const row = present(act, this.#keys)
    const time = Date.parse(row.createdAt)
    if (!this.needs(time)) return
    this.#rows.push(row)
    if (this.#most === Infinity || time >= this.#before || !this.#keep(row.value)) return
    const at = this.#newest.findIndex((it) => it < time)
    this.#newest.splice(at < 0 ? this.#newest.length : at, 0, time)
    this.#newest.length = Math.min(this.#newest.length, this.#most)
  }

  /** The oldest first. The sort is stable: acts of one second keep the order of their history. */
  inOrder(): readonly Row[] {
    return this.#rows.reverse().sort((a, b) => compare(a.createdAt, b.createdAt))
  }
}

const auditFilter = z.object({
  principal: z.string().optional().meta({ description: 'The id (`key:…`) or the name of a principal.' }),
  kind: z.array(z.enum(KINDS, `must be some of ${KINDS.join(', ')}`)).optional(),
})

const reference = z.looseObject({ id: z.string().optional(), slug: z.string().optional() })

const entry = z
  .object({
    id: z.string().meta({ format: 'uuid' }),
    kind: z.enum(KINDS),
    action: z.enum(ACTIONS),
    principal: z
      .strictObject({ id: z.string().optional(), kind: z.literal('key'), name: z.string() })
      .nullable()
      .meta({
        description:
          'Null for what the command line did on the store itself, or an earlier version. Without an id where only the name is recorded.',
      }),
    date: z.string().meta({ format: 'date-time' }),
  })
  .catchall(reference)
  .meta({ description: 'What was done, and references to the thing: `key`, `secret`, `environment` …' })

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** An act before it is presented. */
interface Act {
  readonly kind: Kind
  readonly action: (typeof ACTIONS)[number]
  readonly date: string
  /** The id of a principal (`key:…`), the id of a key, or its name alone; absent if nobody knows. */
  readonly by?: string | undefined
  readonly name?: string | undefined
  /** The thing, and what it belongs to. */
  readonly things: Readonly<Record<string, object>>
}

interface ActSources extends AuditPlace {
  readonly keys: readonly ApiKey[]
  readonly wanted: WantedActs
  readonly slice: TimeSlice
}

async function addActs(registry: Registry, kinds: ReadonlySet<Kind>, sources: ActSources): Promise<void> {
  const { fs, storeDir, sessions, secretsOf, keys, wanted, slice } = sources
  const project = basename(registry.store.folder)
  const acts: Act[] = []
  for (const key of keys) {
    const things = { key: { id: key.id, name: key.name } }
    acts.push({ kind: 'key', action: 'created', date: key.created_at, by: key.created_by, things })
    if (key.revoked_at !== undefined)
      acts.push({ kind: 'key', action: 'revoked', date: key.revoked_at, by: key.revoked_by, things })
  }
  for (const { action, name, date, by } of secretsOf(registry).acts())
    acts.push({ kind: 'secret', action, date, by, things: { secret: { name } } })
  for (const { action, session, key_id: by, date } of sessions.acts(project))
    acts.push({ kind: 'session', action, date, by, things: { session: { id: session } } })
  for (const it of project === DEFAULT_PROJECT ? projectRecords(fs, storeDir) : [])
    acts.push({
      ...{ kind: 'project', action: 'created', date: it.created_at, by: it.created_by },
      things: { project: { name: it.name } },
    })
  await addTrash(registry, kinds, acts)
  for (const act of acts.reverse()) if (kinds.has(act.kind)) wanted.add(act)
  if (kinds.has('archive') || kinds.has('guard')) {
    await addArtifactActs(registry, wanted, slice, (act) => {
      const { kind, action, date, by, artifact, variant, revision } = act
      if (!kinds.has(kind)) return
      const { name } = artifact.family
      const parts = {
        ...(variant ? { [`${name}_variant`]: variant } : {}),
        ...(revision ? { [`${name}_revision`]: revision } : {}),
      }
      wanted.add({ kind, action, date, by: by.id, name: by.name, things: { ...thingOf(artifact), ...parts } })
    })
  }
  if (kinds.has('deployment')) await addDeployments(registry, sources)
}

/** What the log of the trash has; and what lies there since an earlier version. */
async function addTrash(registry: Registry, kinds: ReadonlySet<Kind>, acts: Act[]): Promise<void> {
  if (!kinds.has('trash')) return
  const noted = new Set<string>()
  for (const { action, family, id, slug, date, by } of trashActs(registry)) {
    noted.add(`${id} ${date}`)
    acts.push({ kind: 'trash', action, date, by, things: { [family]: { id, slug } } })
  }
  for (const { artifact, trashed_at: date, trashed_by_id: by } of await registry.trash.list())
    if (!noted.has(`${artifact.id} ${date}`))
      acts.push({ kind: 'trash', action: 'trashed', date, by, things: thingOf(artifact) })
}

function thingOf({ family, id, slug }: RecordedArtifact): Readonly<Record<string, object>> {
  return { [family.name]: { id, slug } }
}

/** How many revisions of an environment are read at once. */
const DEPLOYMENTS_AT_ONCE = 200

/** One act for each key of an environment that a revision of it changed. */
async function addDeployments(registry: Registry, { keys, wanted, slice }: ActSources): Promise<void> {
  for (const environment of await registry.index.list(registry.environments)) {
    for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
      const windowing = { limit: DEPLOYMENTS_AT_ONCE, next }
      const page = await logDeployments(registry, { id: environment.id }, windowing, slice)
      const oids = page.rows.map(({ revision }) => revision.oid)
      const arrivals = await arrivalsOf(environment.repository, oids)
      for (const deployment of page.rows) {
        const who = deployedBy(deployment.revision, arrivals.get(deployment.revision.oid), keys)
        for (const act of actsOf(registry, environment, deployment, who)) wanted.add(act)
      }
      const oldest = page.rows.at(-1)?.revision
      next = oldest && wanted.needs(Date.parse(dateOf(oldest))) ? page.next : undefined
      await slice.pause()
    }
  }
}

function actsOf(
  registry: Registry,
  environment: RecordedArtifact,
  { revision, moved }: LoggedDeployment,
  who: Pick<Act, 'by' | 'name'>,
): readonly Act[] {
  return [...moved].reverse().map(({ key, to }) => ({
    ...{ kind: 'deployment', action: 'deployed', date: dateOf(revision), ...who },
    things: {
      ...thingOf(environment),
      environment_revision: { id: revision.id, slug: revision.slug },
      deployment: { key, ...(to ? { to: targetOf(registry, to) } : {}) },
    },
  }))
}

/**
 * Who made a revision of an environment: the pusher, else the key that the commit names. Commits of earlier versions name none; then the
 * one key with the name and address of the committer, unless the server's own key (SVC_API_KEY) has the same.
 */
function deployedBy(
  { stored: { commit, trailers } }: Revision,
  arrival: Arrival | undefined,
  keys: readonly ApiKey[],
): Pick<Act, 'by' | 'name'> {
  if (arrival) return { by: arrival.principal.id, name: arrival.principal.name }
  const { name, email } = commit.committer
  if (trailers.deployBy !== undefined) return { by: trailers.deployBy, name }
  const [only, ...more] = keys.filter((key) => key.name === name && key.email === email)
  const isServers = email === keyAuthor('admin').email
  return { by: more.length === 0 && !isServers ? only?.id : undefined, name }
}

/** What a pin deploys, as references: `{"workflow_revision": {…}}`. */
function targetOf({ families }: Registry, pin: Pin): object {
  for (const family of families) {
    const { artifact, revision } = referencesTo(family, pin) ?? {}
    if (artifact ?? revision) return { [family.name]: artifact, [`${family.name}_revision`]: revision }
  }
  return {}
}

/** The time in the id of a row. */
function timeIn(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16)
}

/** A row of the list; its id is made of the time and the act, which never change. */
function present({ kind, action, date: at, by, name, things }: Act, keys: readonly ApiKey[]) {
  // Commits have whole seconds; all dates have one form, by which they are sorted.
  const date = new Date(at).toISOString()
  const digits = hash('sha256', JSON.stringify([kind, action, date, things]))
  const time = Date.parse(date).toString(16).padStart(12, '0')
  const id = `${time}${digits}`.replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
  const value = { id, kind, action, principal: principalIn(by, name, keys), date, ...things }
  return { id, createdAt: date, value }
}

function principalIn(
  by: string | undefined,
  name: string | undefined,
  keys: readonly ApiKey[],
): { id?: string; kind: 'key'; name: string } | null {
  if (by === undefined) return name === undefined ? null : { kind: 'key', name }
  const known = keys.map(principalOf).find(({ id }) => id === by || id === `key:${by}`)
  if (known) return known
  const { id } = by.startsWith('key:') ? { id: by } : principalOf({ id: by, name: '' })
  return { id, kind: 'key', name: name ?? (id === 'key:admin' ? 'admin' : id) }
}
