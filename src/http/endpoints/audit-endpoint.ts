import { hash } from 'node:crypto'
import { basename } from 'node:path'
import { z } from 'zod'
import {
  type ApiKey,
  DEFAULT_PROJECT,
  listApiKeys,
  principalOf,
  projectRecords,
  type SessionAct,
} from '../../access/keys.ts'
import type { ProjectSecrets } from '../../access/secrets.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { type RecordedArtifact, trashActs } from '../../registry/artifacts.ts'
import { logDeployments, referencesTo } from '../../registry/environments.ts'
import { arrivalsOf } from '../../registry/push.ts'
import { cutWindow, type Pin, type Registry } from '../../registry/registries.ts'
import { artifactActs, dateOf } from '../../registry/revisions.ts'
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
    run: async ({ registry, input: { filter = {}, windowing: asked } }) => {
      const kinds = new Set<Kind>(filter.kind ?? KINDS)
      const keys = listApiKeys(place.fs, place.storeDir, basename(registry.store.folder))
      const acts = await actsOf(registry, kinds, place, keys)
      // The sort is stable: acts of one second keep the order of their history.
      const rows = acts.map((act) => present(act, keys)).sort((a, b) => compare(a.createdAt, b.createdAt))
      const { principal: by } = filter
      const window = await cutWindow(
        rows,
        asked,
        ({ principal }) => by === undefined || principal?.id === by || principal?.name === by,
      )
      return respondWithList('entries', window, asked, window.rows)
    },
  })
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

async function actsOf(
  registry: Registry,
  kinds: ReadonlySet<Kind>,
  { fs, storeDir, sessions, secretsOf }: AuditPlace,
  keys: readonly ApiKey[],
): Promise<readonly Act[]> {
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
  if (kinds.has('archive') || kinds.has('guard')) {
    for (const { kind, action, date, by, artifact, variant, revision } of await artifactActs(registry)) {
      const { name } = artifact.family
      const parts = {
        ...(variant ? { [`${name}_variant`]: variant } : {}),
        ...(revision ? { [`${name}_revision`]: revision } : {}),
      }
      acts.push({ kind, action, date, by: by.id, name: by.name, things: { ...thingOf(artifact), ...parts } })
    }
  }
  if (kinds.has('deployment')) await addDeployments(registry, keys, acts)
  return acts.filter(({ kind }) => kinds.has(kind))
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

/** One act for each key of an environment that a revision of it changed. */
async function addDeployments(registry: Registry, keys: readonly ApiKey[], acts: Act[]): Promise<void> {
  const slice = new TimeSlice()
  for (const environment of await registry.index.list(registry.environments)) {
    const { rows } = await logDeployments(registry, { id: environment.id }, undefined, slice)
    const oids = rows.map(({ revision }) => revision.oid)
    const arrivals = await arrivalsOf(environment.repository, oids)
    for (const { revision, moved } of [...rows].reverse()) {
      const { name, email } = revision.stored.commit.committer
      // A commit has no id of a key; a pushed one is by whom its note says.
      const pushed = arrivals.get(revision.oid)?.principal
      const named = keys.filter((key) => key.name === name && key.email === email)
      const by = pushed?.id ?? (named.length === 1 ? named[0]?.id : undefined)
      for (const { key, to } of moved)
        acts.push({
          ...{
            kind: 'deployment',
            action: 'deployed',
            date: dateOf(revision),
            by,
            name: pushed?.name ?? name,
          },
          things: {
            ...thingOf(environment),
            environment_revision: { id: revision.id, slug: revision.slug },
            deployment: { key, ...(to ? { to: targetOf(registry, to) } : {}) },
          },
        })
    }
  }
}

/** What a pin deploys, as references: `{"workflow_revision": {…}}`. */
function targetOf({ families }: Registry, pin: Pin): object {
  for (const family of families) {
    const { artifact, revision } = referencesTo(family, pin) ?? {}
    if (artifact ?? revision) return { [family.name]: artifact, [`${family.name}_revision`]: revision }
  }
  return {}
}

/** A row of the list; its id is made of the act, which never changes. */
function present({ kind, action, date: at, by, name, things }: Act, keys: readonly ApiKey[]) {
  // Commits have whole seconds; all dates have one form, by which they are sorted.
  const date = new Date(at).toISOString()
  const digits = hash('sha256', JSON.stringify([kind, action, date, things]))
  const id = digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
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
