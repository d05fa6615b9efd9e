import { expect } from 'chai'
import { stalePages } from '../../scripts/check-imports/documents.ts'
import { generatedPages } from '../../scripts/docs/generated-pages.ts'

describe('the pages that are made from the code', () => {
  it('are what npm run docs makes of it: handlers, mutants, settings and routes', async () => {
    const pages = await generatedPages()
    expect(pages.map(({ path }) => path)).to.deep.equal([
      'docs/handlers.md',
      'docs/mutants.md',
      'docs/configuration.md',
      'docs/api.md',
    ])
    expect(stalePages(pages)).to.deep.equal([])
  })
})
