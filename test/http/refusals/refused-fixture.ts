import { expect } from 'chai'
import type { RunningService } from '../../service.ts'

/** What the tests of refusals have in their store. */
export interface RefusedFixture {
  /** A workflow `bot` with the variant `bot`, two revisions, the second one named `launch`. */
  readonly bot: string
  readonly botVariant: string
  readonly first: string
  readonly second: string
  /** A live variant of `bot`, `spare`, without revisions. */
  readonly spare: string
  /** An archived variant of `bot`, `old`, with a revision. */
  readonly oldVariant: string
  /** An archived workflow `gone` with the variant `gone` and a revision. */
  readonly gone: string
  readonly goneVariant: string
  readonly goneRevision: string
  /** A live workflow `bare`, without variants. */
  readonly bare: string
}

/** Ids that nothing has, of the right form. */
export const NOBODY = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

/** Stores the fixture through the interface. */
export async function arrangeRefused(service: RunningService): Promise<RefusedFixture> {
  const post = async (path: string, body: object): Promise<Record<string, { id: string }>> => {
    const reply = await service.post(path, body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const idOf = async (path: string, key: string, fields: object): Promise<string> =>
    (await post(path, { [key]: fields }))[key]?.id ?? ''
  const workflow = (slug: string) => idOf('/workflows', 'workflow', { slug })
  const variant = (workflow_id: string, slug: string) =>
    idOf('/workflows/variants', 'workflow_variant', { workflow_id, slug })
  const commit = (workflow_variant_id: string, more: object = {}) =>
    idOf('/workflows/revisions/commit', 'workflow_revision', {
      workflow_variant_id,
      data: { parameters: { n: 1 } },
      ...more,
    })

  const bot = await workflow('bot')
  const botVariant = await variant(bot, 'bot')
  const first = await commit(botVariant)
  const second = await commit(botVariant, { slug: 'launch', data: { parameters: { n: 2 } } })
  const spare = await variant(bot, 'spare')
  const oldVariant = await variant(bot, 'old')
  await commit(oldVariant)
  await post(`/workflows/variants/${oldVariant}/archive`, {})
  const gone = await workflow('gone')
  const goneVariant = await variant(gone, 'gone')
  const goneRevision = await commit(goneVariant)
  await post(`/workflows/${gone}/archive`, {})
  const bare = await workflow('bare')
  return { bot, botVariant, first, second, spare, oldVariant, gone, goneVariant, goneRevision, bare }
}
