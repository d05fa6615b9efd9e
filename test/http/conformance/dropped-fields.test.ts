import { expect } from 'chai'
import { surfacesOf } from '../../../src/registry/families/surfaces.ts'
import { workflowSurfaces } from '../../../src/run/handlers/workflows.ts'
import { allEndpoints } from '../../../src/http/endpoints/all-endpoints.ts'
import { webhookEndpoints } from '../../../src/http/endpoints/webhook-endpoints.ts'
import { secretEndpoints } from '../../../src/http/endpoints/secret-endpoints.ts'
import type { Endpoint } from '../../../src/http/routing/endpoint.ts'
import type { Known, KnownObject } from '../../../src/http/routing/known-fields.ts'
import { knownFields } from '../../../src/http/routing/known-fields.ts'
import { surfaceContext } from '../../../src/http/surface-context.ts'
import type { Reply, RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { TestedSurface } from './tested-surface.ts'
import { siblingsOf, testedSurfaces } from './tested-surface.ts'

/** Fields that a write takes and makes nothing of, and the place in the interface that allows it: ten at most. */
const ALLOWED: Readonly<Record<string, string>> = {
  updated_at: 'interface 2.12: it changes by itself, and is accepted whatever it holds',
  updated_by_id: 'interface 2.12, likewise',
  deleted_at: 'interface 2.12, likewise, in a flat record and in a commit',
  deleted_by_id: 'interface 2.12, likewise',
  variant_id: 'interface 2.12, likewise, in a flat record',
  revision_id: 'interface 2.12, likewise, in a flat record',
  version: 'interface 2.12, likewise, in a flat record',
  folder_id: 'interface 2.12: a field that a service may ignore',
  inactive_reason: 'interface 2.12: of a webhook, it changes by itself',
  'flags.*': 'interface 2.12: flags that are no roles are derived, never set, and ignored',
}

const UNKNOWN = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

/** Fields whose value is answered as it was sent. */
const ANSWERED: Readonly<Record<string, unknown>> = {
  name: 'A name',
  description: 'What it is',
  tags: { team: 'support' },
  meta: { list: [1] },
  slug: 'probed',
}

describe('fields of writes: what they change', () => {
  const settings = {
    servicesBase: 'http://localhost/services',
    gitBase: 'http://localhost/git',
    versionType: 'number',
    authorType: 'text',
    searchOf: () => expect.fail(),
    namesOf: () => expect.fail(),
    isExisting: false,
    contradictions: 'warned',
  } as const
  const limits = { testsets: { maxRows: 10, maxRowBytes: 1000, maxColumns: 10 } }
  const surfaces = surfacesOf(workflowSurfaces, limits)
  const contexts = surfaces.map((surface) => surfaceContext(surface, surfaces, settings))
  const endpoints = [
    ...allEndpoints(contexts, limits),
    ...webhookEndpoints(() => expect.fail()),
    ...secretEndpoints({ secretsOf: () => expect.fail(), testSecret: () => expect.fail() }),
  ].filter(({ method, scope }) => method !== 'GET' && scope !== 'read')

  it('the schemas of all writes have no field that nobody reads, but for ten that are allowed', () => {
    const found = new Set<string>()
    const walk = (known: Known | undefined, name: string): void => {
      if (known === undefined) return
      if ('items' in known) return walk(known.items, name)
      for (const field of known.unused) found.add(name === 'flags' ? 'flags.*' : field)
      for (const [field, member] of known.members) walk(member, field)
    }
    expect(endpoints.length).to.be.greaterThan(100)
    for (const { input } of endpoints) if (input) walk(knownFields(input), '')
    expect([...found].sort()).to.deep.equal(Object.keys(ALLOWED).sort())
    expect(found.size).to.be.at.most(10)
  })

  let service: RunningService
  before(async () => (service = await startService()))
  after(() => service.stop())

  let made = 0
  // Surfaces over one family take the same fields in other words.
  for (const surface of testedSurfaces.filter((it) => siblingsOf(it)[0] === it))
    for (const write of writesOf(surface))
      // interface 2.10, 2.12
      it(`${write.name}: each field is answered as it was sent, or a wrong one is refused`, async () => {
        const { path: pattern, method, member } = write
        const endpoint = endpoints.find((it) => it.path === pattern && it.method === method)
        const record = recordIn(endpoint, member)
        const fields = [...record.members.keys()]
        expect(fields.length).to.be.greaterThan(3)
        for (const field of fields) {
          const { id, variant_id } = await make(surface)
          const base = write.record(id, variant_id, ++made)
          const value = valueOf(field, record)
          const path = pattern.replace(':id', member.endsWith('_variant') ? variant_id : id)
          const reply = await service.call(method, path, {
            ...write.beside?.(variant_id),
            [member]: { ...base, [field]: value },
          })
          const what = `${method} ${pattern} ${field}: ${reply.text.slice(0, 300)}`
          if (reply.status !== 200) expect(reply.status, what).to.be.within(400, 499)
          else expect(await isAnswered(surface, member, field, value, reply), what).to.equal(true)
        }
      })

  async function make({
    path,
    singular,
    family,
  }: TestedSurface): Promise<{ id: string; variant_id: string }> {
    const artifact = { slug: `dropped-${++made}`, data: family.data('Hi') }
    return (await service.post(`/simple/${path}`, { [singular]: artifact })).body[singular]
  }

  async function isAnswered(
    { path, singular }: TestedSurface,
    member: string,
    field: string,
    value: unknown,
    { body }: Reply,
  ): Promise<boolean> {
    const shown = body[member.replace('_commit', '')]
    // The message of a flat record is its revision's.
    if (field === 'message' && member === singular) {
      const revision = (await service.get(`/${path}/revisions/${shown.revision_id}`)).body[
        `${singular}_revision`
      ]
      return revision.message === value
    }
    if (field.startsWith('is_') || field === 'search') return shown.flags[field] === value
    return JSON.stringify(shown[field]) === JSON.stringify(value)
  }
})

interface Write {
  readonly name: string
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly member: string
  /** A record that is taken. */
  readonly record: (artifact: string, variant: string, number: number) => object
  readonly beside?: (variant: string) => object
}

function writesOf({ path, singular, family }: TestedSurface): readonly Write[] {
  const [variant, commit] = [`${singular}_variant`, `${singular}_revision_commit`]
  const data = family.data('Hi', 'again')
  const edit = { method: 'PUT', record: () => ({}) } as const
  return [
    { name: `${path}: create`, method: 'POST', path: `/${path}`, member: singular, record: () => ({}) },
    { name: `${path}: edit`, ...edit, path: `/${path}/:id`, member: singular },
    {
      name: `${path}: simple create`,
      method: 'POST',
      path: `/simple/${path}`,
      member: singular,
      record: () => ({ data }),
    },
    {
      name: `${path}: simple edit`,
      ...edit,
      path: `/simple/${path}/:id`,
      member: singular,
      record: () => ({ data }),
    },
    {
      name: `${path}: create a variant`,
      method: 'POST',
      path: `/${path}/variants`,
      member: variant,
      record: (artifact_id, _, number) => ({ artifact_id, slug: `variant-${number}` }),
    },
    { name: `${path}: edit a variant`, ...edit, path: `/${path}/variants/:id`, member: variant },
    {
      name: `${path}: fork`,
      method: 'POST',
      path: `/${path}/variants/fork`,
      member: variant,
      record: (_artifact, _variant, number) => ({ slug: `fork-${number}` }),
      beside: (id) => ({ [`${variant}_ref`]: { id } }),
    },
    {
      name: `${path}: commit`,
      method: 'POST',
      path: `/${path}/revisions/commit`,
      member: commit,
      record: (_, variant_id) => ({ variant_id, data }),
    },
  ]
}

/** What the schema of a write knows of its record. */
function recordIn(endpoint: Endpoint | undefined, member: string): KnownObject {
  const known = endpoint?.input && knownFields(endpoint.input)
  const record = known && 'members' in known ? known.members.get(member) : undefined
  return record && 'members' in record ? record : expect.fail(`no ${member} in ${endpoint?.path}`)
}

/** A value that is answered as it is sent, or one that is wrong. */
function valueOf(field: string, { members }: KnownObject): unknown {
  if (field in ANSWERED)
    return field === 'slug' ? `probed-${Math.random().toString(36).slice(2)}` : ANSWERED[field]
  if (field === 'message') return 'Why'
  if (field.startsWith('is_') || field === 'search') return true
  if (field === 'flags') return { nobody_knows: true }
  if (field === 'data' || field === 'delta') return 5
  if (field === 'deploy') return ['no-such-environment']
  if (field.endsWith('_ref')) return { id: UNKNOWN }
  if (field === 'id' || field.endsWith('_id')) return UNKNOWN
  if (members.has(field)) return 'no-such-thing'
  return expect.fail(field)
}
