import { expect } from 'chai'
import { spreadArguments } from '../../../scripts/check-imports/house-rules.ts'

describe('npm run check: lists as arguments', () => {
  const found = (text: string) =>
    spreadArguments([
      { path: 'src/a.ts', lines: 1, imports: [], named: [], passedOn: [], packages: [], exports: [], text },
    ])

  it('names each list that is spread into the arguments of a call', () => {
    for (const text of [
      'rows.push(...more)',
      'rows.unshift(\n  ...more)',
      'rows.push(first, ...more)',
      'Math.max(0, ...sizes)',
      'Math.min(...sizes)',
    ])
      expect(found(`const a = 1\n${text}\n`), text).to.have.length(1)
    expect(found('const a = 1\nrows.push(...more)\n')).to.deep.equal([
      'src/a.ts:2 spreads a list into the arguments of .push: take its items one by one',
    ])
  })

  it('leaves lists and objects alone that are made of others', () => {
    for (const text of ['rows.push([...more])', 'rows.push({ ...one, a: 1 })', 'const all = [...a, ...b]'])
      expect(found(text), text).to.deep.equal([])
  })
})
