import { expect } from 'chai'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { queryDocument, queryFamily } from '../../../src/registry/families/query-family.ts'
import { querySurface } from '../../../src/registry/families/query-surface.ts'

describe('query family', () => {
  it('has no flags, no guard and no pins', () => {
    expect([...queryFamily.roles, ...queryFamily.flagNames]).to.deep.equal([])
    expect(queryFamily.flags({})).to.deep.equal({})
    expect(queryFamily.guardFlag).to.equal(undefined)
    expect(queryFamily.pins).to.equal(undefined)
  })

  it('shows what it stores', () => {
    const data = { filtering: { conditions: [], operator: 'and' } }
    expect(queryDocument.present(data, { servicesBase: '', revisionId: 'r' })).to.deep.equal(data)
  })

  it('shows an example that it would store as it is', async () => {
    const example = parseJson(JSON.stringify(querySurface.example))
    expect((await queryDocument.accept(example, { loc: [], servicesBase: '' })).data).to.deep.equal(example)
  })
})
