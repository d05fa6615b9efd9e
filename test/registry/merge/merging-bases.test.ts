import { expect } from 'chai'
import { MergeEffort, MergingBases } from '../../../src/registry/merge/merging.ts'

describe('merge bases that are merged into one', () => {
  const sides = { base: 'Be kind.', target: 'Be brief.', source: 'Be exact.' }
  const conflict = { kind: 'both_changed', place: '/parameters/script', ...sides } as const

  it('keep what is in conflict as both sides have it, between marks', () => {
    const { value } = new MergingBases(new MergeEffort()).choose(conflict)
    expect(value).to.equal(
      '<<<<<<< target\n"Be brief."\n||||||| base\n"Be kind."\n=======\n"Be exact."\n>>>>>>> source\n',
    )
  })

  it('keep up to four million characters between marks, and beyond them what the base has', () => {
    const merging = new MergingBases(new MergeEffort())
    const most = 'x'.repeat(4_000_000)
    expect(merging.choose({ ...conflict, marked: most }).value).to.equal(most)
    expect(merging.choose({ ...conflict, marked: 'x' })).to.deep.equal({
      place: conflict.place,
      take: 'base',
    })
  })

  it('take what the base has where one side removed what the other changed', () => {
    const merging = new MergingBases(new MergeEffort())
    const { take } = merging.choose({ ...conflict, kind: 'changed_and_removed' })
    expect(take).to.equal('base')
  })
})
