import { expect } from 'chai'
import {
  deadLinks,
  outsideCitations,
  rulesOf,
  doubledRules,
  unknownRules,
  unnamedRules,
} from '../../../scripts/check-imports/citations.ts'

describe('npm run check: citations', () => {
  const page = '## 4. Slugs\n\n<a id="4.7"></a>**4.7** One.\n\n<a id="4.8"></a>**4.8** Two, see 4.9.\n'

  it('reads the numbers of the rules', () => {
    expect(rulesOf(page)).to.deep.equal(['4.7', '4.8'])
  })

  it('names comments that cite pages of elsewhere, and no others', () => {
    for (const cited of [
      'ruling\x203.15',
      'rulings\x206',
      'contract\x2fresolve 3.1',
      'wire\x208',
      'design\x201a',
      '\u00a7 3',
    ])
      expect(outsideCitations([{ path: 'src/a.ts', text: `// fine\n// (${cited})` }]), cited)
        .to.have.length(1)
        .and.property('0')
        .to.match(/^src\/a\.ts:2 cites /)
    for (const fine of ['interface 4.7', 'docs/guide/workbench.md', 'by design', 'a ruling of the court'])
      expect(outsideCitations([{ path: 'src/a.ts', text: `// (${fine})` }]), fine).to.deep.equal([])
  })

  it('names a number that two rules have', () => {
    expect(doubledRules(['1.1', '1.2', '1.1'])).to.deep.equal([
      'docs/interface.md: two rules have the number 1.1; give the later one the next free number',
    ])
    expect(doubledRules(['1.1', '1.2'])).to.deep.equal([])
  })

  it('names rules that are not there, and those that no test names', () => {
    const rules = rulesOf(page)
    const text = '/** Of slugs (interface 4.7, 4.9). */'
    expect(unknownRules([{ path: 'src/a.ts', text }], rules)).to.deep.equal([
      'src/a.ts cites interface 4.9, which docs/interface.md does not have',
    ])
    expect(unnamedRules([{ path: 'test/a.test.ts', text }], rules)).to.deep.equal(['4.8'])
  })

  it('names links that lead to no file, heading or anchor', () => {
    const readme = { path: 'README.md', text: '' }
    const linking = (target: string) => deadLinks([{ ...readme, text: `${page}\n[there](${target})\n` }])
    for (const fine of ['#4.7', '#4-slugs', 'docs', 'package.json', 'https://example.org/#nothing'])
      expect(linking(fine), fine).to.deep.equal([])
    expect(linking('docs/nothing.md')).to.deep.equal([
      'README.md links to docs/nothing.md, which is not there',
    ])
    expect(linking('#4.9')).to.deep.equal(['README.md links to #4.9, which has no such heading'])
    expect(deadLinks([{ ...readme, text: '```sh\n[no](link)\n```\n`[no](link)`' }])).to.deep.equal([])
  })
})
