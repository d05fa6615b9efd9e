import { expect } from 'chai'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import type { RunningService } from '../../support/servers/service.ts'
import type { TestedFamily } from '../conformance/tested-family.ts'

/** What the tests of refusals have in their store. */
export interface RefusedFixture {
  /** An artifact `bot` with the variant `bot`, two revisions, the second one named `launch`. */
  readonly bot: string
  readonly botVariant: string
  readonly first: string
  readonly second: string
  /** A live variant of `bot`, `spare`, without revisions. */
  readonly spare: string
  /** An archived variant of `bot`, `old`, with a revision. */
  readonly oldVariant: string
  /** An archived artifact `gone` with the variant `gone` and a revision. */
  readonly gone: string
  readonly goneVariant: string
  readonly goneRevision: string
  /** A live artifact `bare`, without variants. */
  readonly bare: string
  /** An admin key of another project, in which nothing was made by anybody. */
  readonly stranger: string
}

/** Ids that nothing has, of the right form. */
export const NOBODY = '01a1fbb1-f5c2-76ee-83de-4bacd1c878f6'

/** Stores the fixture of a family through the interface. */
export async function arrangeRefused(
  service: RunningService,
  { singular, folder, data }: TestedFamily,
): Promise<RefusedFixture> {
  const post = async (path: string, body: object): Promise<Record<string, { id: string }>> => {
    const reply = await service.post(path, body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const idOf = async (path: string, key: string, fields: object): Promise<string> =>
    (await post(path, { [key]: fields }))[key]?.id ?? ''
  const artifact = (slug: string) => idOf(`/${folder}`, singular, { slug })
  const variant = (artifact_id: string, slug: string) =>
    idOf(`/${folder}/variants`, `${singular}_variant`, { artifact_id, slug })
  const commit = (variant_id: string, more: object = {}) =>
    idOf(`/${folder}/revisions/commit`, `${singular}_revision`, { variant_id, data: data('n1'), ...more })

  const bot = await artifact('bot')
  const botVariant = await variant(bot, 'bot')
  const first = await commit(botVariant)
  const second = await commit(botVariant, { slug: 'launch', data: data('n2') })
  const spare = await variant(bot, 'spare')
  const oldVariant = await variant(bot, 'old')
  await commit(oldVariant)
  await post(`/${folder}/variants/${oldVariant}/archive`, {})
  const gone = await artifact('gone')
  const goneVariant = await variant(gone, 'gone')
  const goneRevision = await commit(goneVariant)
  await post(`/${folder}/${gone}/archive`, {})
  const bare = await artifact('bare')
  const stranger = await strangerTo(service)
  return {
    bot,
    botVariant,
    first,
    second,
    spare,
    oldVariant,
    gone,
    goneVariant,
    goneRevision,
    bare,
    stranger,
  }
}

/** A key of a project that has been opened, so that it has the environments which every project starts with. */
async function strangerTo(service: RunningService): Promise<string> {
  const settings = { project: 'elsewhere', name: 'stranger', scopes: ['admin'] } as const
  const { token } = await createApiKey(nodeFs, service.storeDir, settings)
  const seeded = await service.post('/environments/query', {}, { authorization: `ApiKey ${token}` })
  expect(seeded.body.count).to.equal(3)
  return token
}
