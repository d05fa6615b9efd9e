import type { TestedFamily } from '../conformance/tested-family.ts'
import { siblingsOf } from '../conformance/tested-surface.ts'
import type { RefusedFixture } from './refused-fixture.ts'
import type { RefusedRequests } from './refused-requests.ts'

/** A place in a payload. */
export type Loc = readonly (string | number)[]

/** Sends payloads that must be refused, each wherever a request takes one, on several surfaces of the family. */
export interface RefusedPayloads {
  /**
   * `data`, refused as a commit, as a simple create and as a simple edit alike, at the same places below each; an edit makes no
   * variant.
   */
  readonly refusesData: (data: unknown, at: readonly Loc[], ...says: readonly string[]) => Promise<void>
  /** The same of `data` with a key that nobody reads. */
  readonly refusesUnknown: (data: unknown, at: readonly Loc[], ...says: readonly string[]) => Promise<void>
  /** `delta`, refused as a commit. */
  readonly refusesDelta: (delta: unknown, code: string, ...at: readonly Loc[]) => Promise<void>
}

export function refusedPayloads(
  family: TestedFamily,
  store: RefusedRequests<RefusedFixture>,
): RefusedPayloads {
  const { singular, folder } = family
  const [, second = { path: folder, singular }] = siblingsOf({ family })
  const refusesAs =
    (code: string): RefusedPayloads['refusesData'] =>
    async (data, at, ...says) => {
      const { bot, bare, botVariant } = store.made
      const below = (...base: string[]) => ({
        status: 422,
        code,
        says,
        at: at.map((place) => ['body', ...base, 'data', ...place]),
      })
      const commit = `${singular}_revision_commit`
      await store.refuses(
        {
          path: `/${folder}/revisions/commit`,
          body: { [commit]: { [`${singular}_variant_id`]: botVariant, data } },
        },
        below(commit),
      )
      await store.refuses(
        { path: `/simple/${second.path}`, body: { [second.singular]: { slug: 'new', data } } },
        below(second.singular),
      )
      for (const id of [bot, bare]) {
        await store.refuses(
          { method: 'PUT', path: `/simple/${folder}/${id}`, body: { [singular]: { name: 'No', data } } },
          below(singular),
        )
      }
    }
  return {
    refusesData: refusesAs('invalid_request'),
    refusesUnknown: refusesAs('unknown_field'),
    refusesDelta: async (delta, code, ...at) => {
      const key = `${second.singular}_revision`
      await store.refuses(
        {
          path: `/${second.path}/revisions/commit`,
          body: { [key]: { variant_id: store.made.botVariant, delta } },
        },
        { status: 422, code, says: ['delta'], at: at.map((place) => ['body', key, 'delta', ...place]) },
      )
    },
  }
}
