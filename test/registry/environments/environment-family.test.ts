import { expect } from 'chai'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import {
  environmentDocument,
  environmentFamily,
  environmentSurface,
} from '../../../src/registry/families/environment-surface.ts'
import { readerOf } from '../written-file.ts'

const context = { loc: ['body'], servicesBase: 'http://127.0.0.1:3000/services' }

describe('environment family', () => {
  it('has one flag, which guards and which nothing derives', () => {
    expect(environmentFamily.roles).to.deep.equal(['is_guarded'])
    expect(environmentFamily.flagNames).to.deep.equal([])
    expect(environmentFamily.guardFlag).to.equal('is_guarded')
    expect(environmentFamily.flags(undefined)).to.deep.equal({})
  })

  it('tells the pins of a payload, in order', async () => {
    const data = parseJson(
      '{"references":{"b.revision":{"application":{"slug":"b"},"application_revision":{"id":"0198C0DE-1111-7AAA-8BBB-000000000001","version":"3"}},"__proto__":{"__proto__":{}},"1":{}}}',
    )
    const pins = environmentFamily.pins?.((await environmentFamily.accept(data, context)).payload)
    expect(pins?.map(({ key, references }) => [key, ...references])).to.deep.equal([
      [
        'b.revision',
        ['application', { slug: 'b' }],
        ['application_revision', { id: '0198c0de-1111-7aaa-8bbb-000000000001', version: 3 }],
      ],
      ['__proto__', ['__proto__', {}]],
      ['1'],
    ])
  })

  it('tells no pins of no references', async () => {
    expect(environmentFamily.pins?.((await environmentFamily.accept({}, context)).payload)).to.deep.equal([])
  })

  it('brings pins through a commit, a delta and a read unchanged but for what was asked', async () => {
    const sent = parseJson('{"references":{"b":{"workflow":{"slug":"b"}},"7":{"x":{}}}}')
    const { data } = await environmentDocument.accept(sent, context)
    const files = environmentDocument.encode(data)
    const read = await environmentDocument.decode(readerOf(files))
    const next = environmentDocument.applyDelta(read, parseJson('{"set":{"a":{}}}'), context).data
    expect(stringifyJson(environmentDocument.present(next, { ...context, revisionId: 'r' }))).to.equal(
      '{"references":{"b":{"workflow":{"slug":"b"}},"7":{"x":{}},"a":{}}}',
    )
  })

  it('shows an example that it would store as it is', async () => {
    const example = parseJson(JSON.stringify(environmentSurface.example))
    expect((await environmentDocument.accept(example, context)).data).to.deep.equal(example)
  })
})
