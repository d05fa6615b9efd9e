import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../git/git-program.ts'
import type { Reply, RunningService } from '../service.ts'

/** A POST that writes, and how to bring about what it needs. */
export interface Operation {
  readonly name: string
  readonly prepare: (service: RunningService, slug: string) => Promise<{ path: string; body: object }>
}

/** A payload. */
export const data = { parameters: { prompt: { messages: [{ role: 'user', content: 'Hi' }] } } }

/** A workflow with a variant and one revision. */
export async function made(service: RunningService, slug: string) {
  const { body } = await service.post('/simple/workflows', { workflow: { slug, data } })
  return body.workflow as { id: string; variant_id: string; revision_id: string }
}

async function emptyVariant(service: RunningService, slug: string): Promise<string> {
  const { body } = await service.post('/workflows', { workflow: { slug } })
  const variant = await service.post('/workflows/variants', {
    workflow_variant: { workflow_id: body.workflow.id },
  })
  return variant.body.workflow_variant.id
}

/** The body of a commit. */
export const commitOf = (variant: string, more: object = {}) => ({
  workflow_revision_commit: { workflow_variant_id: variant, message: 'Again', data, ...more },
})

/** Every kind of write that a key makes safe to repeat, each with what its answer depends on. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'create an artifact',
    prepare: async (_, slug) => ({ path: '/workflows/', body: { workflow: { slug, name: 'New' } } }),
  },
  {
    name: 'create an artifact without a slug',
    prepare: async () => ({ path: '/applications', body: { application: { name: 'New' } } }),
  },
  {
    name: 'create an artifact with a chosen id',
    prepare: async () => ({
      path: '/workflows?workflow_id=01a1fbb1-f5c2-76ee-83de-4bacd1c878f6',
      body: { workflow: { name: 'New' } },
    }),
  },
  {
    name: 'simple create',
    prepare: async (_, slug) => ({ path: '/simple/workflows', body: { workflow: { slug, data } } }),
  },
  {
    name: 'simple create without data',
    prepare: async (_, slug) => ({ path: '/simple/evaluators', body: { evaluator: { slug } } }),
  },
  {
    name: 'create a variant',
    prepare: async (service, slug) => {
      const { id } = await made(service, slug)
      return { path: '/workflows/variants', body: { workflow_variant: { workflow_id: id } } }
    },
  },
  {
    name: 'fork',
    prepare: async (service, slug) => {
      await made(service, slug)
      return {
        path: '/workflows/variants/fork',
        body: { workflow_variant: { slug: `${slug}-fork` }, workflow_variant_ref: { slug } },
      }
    },
  },
  {
    name: 'fork under the shared path without a slug',
    prepare: async (service, slug) => {
      await made(service, slug)
      return { path: '/variants/fork', body: { workflow_variant: {}, workflow_variant_ref: { slug } } }
    },
  },
  {
    name: 'commit',
    prepare: async (service, slug) => {
      const { variant_id } = await made(service, slug)
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id) }
    },
  },
  {
    name: 'commit with a slug, a base and a warning',
    prepare: async (service, slug) => {
      const { variant_id, revision_id } = await made(service, slug)
      const more = {
        slug: `${slug}.final`,
        base_revision_id: revision_id,
        data: { uri: 'user:custom:hook:v0', url: 'https://example.org', headers: { 'X-Key': 'plain' } },
      }
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id, more) }
    },
  },
  {
    name: 'commit a delta',
    prepare: async (service, slug) => {
      const { variant_id } = await made(service, slug)
      const more = { data: undefined, delta: { set: { parameters: { temperature: 1 } } } }
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id, more) }
    },
  },
  {
    name: 'first revision without a payload',
    prepare: async (service, slug) => {
      const workflow_variant_id = await emptyVariant(service, slug)
      return { path: '/workflows/revisions', body: { workflow_revision: { workflow_variant_id } } }
    },
  },
  ...(['archive', 'unarchive'] as const).flatMap((action) =>
    (['', 'variants/', 'revisions/', 'simple'] as const).map((level): Operation => ({
      name: `${action} ${level || 'artifact'}`,
      prepare: async (service, slug) => {
        const { id, variant_id, revision_id } = await made(service, slug)
        const target = level === 'variants/' ? variant_id : level === 'revisions/' ? revision_id : id
        const path = level === 'simple' ? `/simple/workflows/${target}` : `/workflows/${level}${target}`
        if (action === 'unarchive') await service.post(`${path}/archive`)
        return { path: `${path}/${action}`, body: {} }
      },
    })),
  ),
]

/** A request that was answered. */
export interface Sent {
  readonly name: string
  readonly path: string
  readonly body: object
  readonly key: string
  readonly first: Reply
}

/** Sends each operation once, with a key of its own. */
export async function sendAll(service: RunningService): Promise<readonly Sent[]> {
  const sent = []
  for (const [number, { name, prepare }] of OPERATIONS.entries()) {
    const { path, body } = await prepare(service, `bot-${number}`)
    const key = `key ${number}`
    const first = await service.post(path, body, { 'idempotency-key': key })
    expect(first.status, `${name}: ${first.text}`).to.equal(200)
    expect(first.headers.has('idempotent-replayed'), name).to.equal(false)
    sent.push({ name, path, body, key, first })
  }
  return sent
}

/** Expects the answer of a repeated request to be the first one. */
export function expectSame(name: string, first: Reply, again: Reply): void {
  expect(again.status, `${name}: ${again.text}`).to.equal(200)
  expect(again.body, name).to.deep.equal(first.body)
}

/** Every commit and every ref of every workflow's repository. */
export function everything({ storeDir }: RunningService): string {
  const folder = join(storeDir, 'default/workflows')
  return readdirSync(folder)
    .map((name) => {
      const repository = join(folder, name)
      return `${name}\n${git(repository, ['rev-list', '--all'])}\n${git(repository, ['for-each-ref'])}`
    })
    .join('\n')
}
