import { expect } from 'chai'
import { queryDependents } from '../../../src/registry/embeds/dependents.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import type { Payload } from '../../../src/registry/payload/family.ts'
import { pinWarnings } from '../../../src/registry/environments/pin-warnings.ts'
import { queryRevisions } from '../../../src/registry/revisions/query-revisions.ts'
import type { VariantLocation } from '../../../src/registry/revisions/references.ts'
import type { Registry } from '../../../src/registry/store/registry.ts'
import { retrieveRevision } from '../../../src/registry/revisions/retrieve-revision.ts'
import { readRevisionAt } from '../../../src/registry/revisions/revision.ts'
import { context, memoryRegistry, newVariant } from '../memory-registry.ts'

const PINS = 300

describe('versioning: other work gets its turn while many pins are followed', () => {
  let registry: Registry
  let live: VariantLocation
  let bot: VariantLocation
  let payload: Payload | undefined

  before(async () => {
    registry = await memoryRegistry()
    live = await newVariant(registry, environmentFamily, 'live')
    bot = await newVariant(registry, workflowFamily, 'bot')
    await commitRevision(registry, bot, { header: {}, loc: [], mustBeFirst: true }, context)
    const keys = Array.from({ length: PINS }, (_, index) => `key ${index}`)
    const references = Object.fromEntries(keys.map((key) => [key, { workflow: { slug: 'bot' } }]))
    const { revision: place } = await commitRevision(
      registry,
      live,
      { header: {}, loc: [], data: { references } },
      context,
    )
    payload = (await readRevisionAt(place)).stored.payload
  })

  const surface = { singular: 'workflow', fixedFlags: {} }
  for (const [name, work] of [
    ['warnings', () => payload && pinWarnings(registry, environmentFamily, payload)],
    [
      'retrieve of an environment alone',
      () =>
        retrieveRevision(registry, workflowFamily, { environment: { artifact: { slug: 'live' } } }, surface),
    ],
    ['dependents', () => queryDependents(registry, bot, {})],
    ['mirrors', () => commitRevision(registry, live, { header: {}, loc: [], delta: {} }, context)],
  ] as const) {
    it(name, async () => {
      expect(await turnsDuring(work)).to.be.at.least(PINS / 50)
    })
  }

  it('history of an artifact', async () => {
    for (let revision = 0; revision < 120; revision++) {
      await commitRevision(registry, live, { header: {}, loc: [], data: {} }, context)
    }
    const query = { filter: {}, roles: {}, pinned: [{ slug: 'bot' }] }
    expect(await turnsDuring(() => queryRevisions(registry, environmentFamily, query))).to.be.at.least(2)
  })
})

/** How many turns of the event loop others had while the work was done. */
async function turnsDuring(work: () => unknown): Promise<number> {
  let turns = 0
  let next = setImmediate(function again() {
    turns++
    next = setImmediate(again)
  })
  try {
    await work()
  } catch {
    // A refusal comes after the same work.
  }
  clearImmediate(next)
  return turns
}
