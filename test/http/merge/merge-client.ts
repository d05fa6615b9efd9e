import { expect } from 'chai'
import type { Reply, RunningService, ServiceOptions } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import { git } from '../../support/git/git-program.ts'

// Tests look into answers freely; the harness has held each against its schema.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Shown = any

/** A service of its own, and what tests of merges do with one surface all the time; every method but `ask` expects a 200. */
export interface MergeClient {
  readonly service: RunningService
  /** An artifact with one revision; answers its slug, which is also its default variant's. */
  make(data: object): Promise<string>
  fork(from: string, more?: object): Promise<string>
  /** Commits data, or other fields, to a variant; answers the revision. */
  commit(variant: string, fields: object): Promise<Shown>
  latest(variant: string): Promise<Shown>
  /** Merges a variant into another; the answer may be a refusal. */
  ask(source: string, target: string, more?: object): Promise<Reply>
  merge(source: string, target: string, more?: object): Promise<Shown>
  post(path: string, body: object): Promise<Reply>
  /** Runs git in the artifact's repository. */
  git(slug: string, ...args: readonly string[]): string
  stop(): Promise<void>
}

/** Starts a service for a `describe`. */
export async function startMerging(
  singular: 'workflow' | 'testset' | 'environment' | 'query',
  options: ServiceOptions = {},
): Promise<MergeClient> {
  const service = await startService(options)
  const plural = singular === 'query' ? 'queries' : `${singular}s`
  let made = 0
  const ok = async (reply: Promise<Reply>): Promise<Shown> => {
    const { status, text, body } = await reply
    expect(status, text).to.equal(200)
    return body
  }
  const post: MergeClient['post'] = (path, body) => service.post(`/${plural}${path}`, body)
  const ask: MergeClient['ask'] = (source, target, more = {}) =>
    post('/variants/merge', {
      source: { variant: { slug: source } },
      target: { variant: { slug: target } },
      ...more,
    })
  const fresh = (): string => `m${++made}-${Math.random().toString(36).slice(2, 8)}`
  return {
    service,
    make: async (data) => {
      const slug = fresh()
      await ok(service.post(`/simple/${plural}/`, { [singular]: { slug, data } }))
      return slug
    },
    fork: async (from, more = {}) => {
      const slug = `${from}-${fresh()}`
      await ok(
        post('/variants/fork', {
          [`${singular}_variant`]: { slug },
          [`${singular}_variant_ref`]: { slug: from },
          ...more,
        }),
      )
      return slug
    },
    commit: async (variant, fields) => {
      const body = {
        [`${singular}_revision_commit`]: { [`${singular}_variant_ref`]: { slug: variant }, ...fields },
      }
      return (await ok(post('/revisions/commit', body)))[`${singular}_revision`]
    },
    latest: async (variant) => {
      const body = { [`${singular}_variant_ref`]: { slug: variant } }
      return (await ok(post('/revisions/retrieve', body)))[`${singular}_revision`]
    },
    ask,
    merge: (source, target, more) => ok(ask(source, target, more)),
    post,
    git: (slug, ...args) => git(service.repository(slug, plural), args),
    stop: () => service.stop(),
  }
}

/** What a refusal says: its status and code. */
export function refused({ status, body }: Reply): string {
  return `${status} ${body?.code}`
}
