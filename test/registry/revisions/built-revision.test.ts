import { expect } from 'chai'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { queryFamily } from '../../../src/registry/families/query-family.ts'
import { testsetFamily } from '../../../src/registry/testsets/testset-family.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { Store } from '../../../src/git/store/store.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import type { Family } from '../../../src/registry/payload/family.ts'
import { Registry } from '../../../src/registry/store/registry.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { RevisionCache } from '../../../src/registry/revisions/stored-revision.ts'
import { context, newVariant } from '../memory-registry.ts'

const TESTSETS = testsetFamily({ maxRows: 100, maxRowBytes: 10_000, maxColumns: 10 })

describe('versioning: a revision as it was built', () => {
  const families: Record<string, { family: Family; data: readonly string[] }> = {
    'a workflow': {
      family: workflowFamily,
      data: [
        '{}',
        '{"parameters":{"temperature":0.20,"2":1,"1":2,"big":123456789012345678901234567890,"__proto__":{"a":null}}}',
        '{"script":"a\\r\\nb\\u2028\\n","runtime":"python"}',
        '{"script":"\\ufeffdef main():\\n  return 1","runtime":"python"}',
        '{"parameters":{"z":[{"":""}]},"script":"","runtime":"typescript"}',
        '{"runtime":"python"}',
        '{"script":"not a file"}',
        '{"script":"script.py","runtime":"javascript"}',
      ],
    },
    'an environment': { family: environmentFamily, data: ['{"references":{}}', '{}'] },
    'a query': {
      family: queryFamily,
      data: ['{}', '{"filtering":{"conditions":[]}}', '{"windowing":{"limit":5}}'],
    },
    'a testset': {
      family: TESTSETS,
      data: ['{"testcases":[]}', '{"testcases":[{"data":{"b":1.0,"a":"x"}},{"data":{"c":null}}]}'],
    },
  }
  const messages = [
    undefined,
    '',
    'Fix',
    'Fix\n\nSigned-off-by: A <a@b.c>',
    'Fix\n\nVariant: other',
    'a\n',
    '\n\n x ',
  ]
  for (const [what, { family, data }] of Object.entries(families)) {
    it(`is what reading ${what} back gives, whatever it holds`, async () => {
      const store = await Store.open(memoryFs(), '/store')
      const settings = { servicesBase: 'http://localhost/services', now: () => new Date() }
      const registry = new Registry(
        await store.project('default'),
        [family, ...(family === environmentFamily ? [] : [environmentFamily])],
        settings,
      )
      await registry.index.load()
      let place = await newVariant(registry, family, 'bot')
      let count = 0
      for (const text of data) {
        for (const message of messages) {
          const header = count++ % 2 === 0 ? {} : { name: ' ä ', flags: { is_x: true }, tags: { a: [1] } }
          const input = { message, header, data: parseJson(text), loc: [] }
          const { revision: committed } = await commitRevision(registry, place, input, context)
          const { artifact, variant, oid } = committed
          const { objects } = artifact.repository
          const kept = await registry.revisions(family).read({ read: () => unreadable() }, oid)
          const back = await new RevisionCache(family, registry.limits, '').read(objects, oid)
          expect(kept, `${text} ${message}`).to.deep.equal(back)
          expect(JSON.stringify(kept.payload)).to.equal(JSON.stringify(back.payload))
          place = { artifact, variant }
        }
      }
    })
  }
})

function unreadable(): never {
  throw new Error('it was read back')
}
