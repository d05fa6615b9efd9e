import { expect } from 'chai'
import { longReadme, stalePages, undocumentedVariables } from '../../../scripts/check-imports/documents.ts'

describe('npm run check: documents', () => {
  it('names a README of 301 lines', () => {
    expect(longReadme('line\n'.repeat(300))).to.deep.equal([])
    expect(longReadme('line\n'.repeat(301))).to.have.length(1)
    expect(longReadme('line\n'.repeat(301))[0]).to.match(/^README\.md has 301 lines, which is more than 300/)
  })

  it('names each route that the page does not have, and a page that says something else', () => {
    const page = (...routes: readonly string[]) =>
      ['| Route | Does |', ...routes.map((route) => `| \`${route}\` | something |`)].join('\n')
    const path = 'docs/api.md'
    const both = page('GET /a', 'POST /b')
    expect(stalePages([{ path, is: both, shouldBe: both }])).to.deep.equal([])
    expect(stalePages([{ path, is: page('GET /a'), shouldBe: both }])).to.deep.equal([
      'docs/api.md lacks `POST /b`: run npm run docs',
    ])
    expect(stalePages([{ path, is: both, shouldBe: both.replace('something', 'more') }])).to.deep.equal([
      'docs/api.md is not what npm run docs makes of the code: run it',
    ])
  })

  it('names each variable that the source reads and the page does not have', () => {
    const nothing = {
      path: 'src/a.ts',
      lines: 1,
      imports: [],
      named: [],
      passedOn: [],
      packages: [],
      exports: [],
    }
    const read = (text: string) => undocumentedVariables([{ ...nothing, text }], '`KNOWN_ONE`')
    for (const text of [
      "process.env['NEW_ONE']",
      'process.env.NEW_ONE',
      "environment['NEW_ONE']",
      "variable(environment, 'NEW_ONE')",
      "read(env, ['NEW_ONE'])",
    ])
      expect(read(text), text).to.deep.equal([
        'src/a.ts reads NEW_ONE, which docs/configuration.md does not have',
      ])
    expect(read("process.env['KNOWN_ONE'] + settings.NEW_ONE")).to.deep.equal([])
  })
})
