import { expect } from 'chai'
import { killMutant } from '../../proofs/mutants/kill-mutant.ts'
import { keptMutants, type Mutant, placeOf, readSources } from '../../proofs/mutants/kept-mutants.ts'
import { MutatedTree } from '../../proofs/mutants/mutated-tree.ts'
import { filesReached } from '../../proofs/mutants/reach.ts'

/** Quick ones of the same folder. */
const TREE_TESTS = 'dist/test/git/objects/tree.test.js'
const TAG_TESTS = 'dist/test/git/objects/tag.test.js'

describe('mutants', () => {
  const sources = readSources()
  let tree: MutatedTree

  before(async () => {
    tree = await MutatedTree.make()
  })
  after(() => tree.remove())

  it('are killed by the first test that fails with them and passes without', async () => {
    const mutant = keptMutants().find(({ killedBy }) => killedBy?.file === TREE_TESTS)
    if (!mutant) throw new Error(`none is kept that ${TREE_TESTS} kills`)
    const verdict = await killMutant(mutant, [TAG_TESTS, TREE_TESTS], { tree, sources })
    expect(verdict).to.deep.include({ is: 'killed', path: mutant.file })
    if (verdict.is !== 'killed') return
    expect(verdict.killedBy.file).to.equal(TREE_TESTS)
    expect(verdict.killedBy.test).to.match(/^git: trees /)
    const again = await tree.run(TREE_TESTS, { most: 60_000 })
    expect([again.failed, again.isCut], 'the tree is as it was').to.deep.equal([undefined, false])
  })

  it('live where every test that is asked passes', async () => {
    const mutant = {
      file: 'src/git/objects/object.ts',
      before: "value('tagger')",
      after: "value('tagged')",
      breaks: 'The tagger.',
    }
    const verdict = await killMutant(mutant, [TREE_TESTS, 'dist/test/gone.test.js'], { tree, sources })
    expect(verdict).to.deep.equal({ is: 'alive', path: mutant.file, asked: 1, of: 1 })
  })

  it('are found by their text, wherever it is and however it is indented', () => {
    const mutant = mutantOf({ before: 'if (a) {\n  return $1\n}', after: 'if (!a) {\n  return $1\n}' })
    const moved = 'x\n    if (a) {\n      return $1\n    }\ny'
    const texts = new Map([
      ['src/old.ts', 'return 1'],
      ['src/new.ts', moved],
    ])
    expect(placeOf(mutant, texts)).to.deep.equal({
      path: 'src/new.ts',
      mutated: 'x\n    if (!a) {\n  return $1\n}\ny',
    })
    expect(placeOf(mutant, new Map([['src/old.ts', 'return 1']]))).to.equal(
      'does not apply any more: its text is nowhere in src',
    )
    const twice = placeOf(mutant, new Map([...texts, ['src/other.ts', moved]]))
    expect(twice).to.equal('does not apply any more: its text is 2 times in src')
    const own = placeOf(mutant, new Map([...texts, ['src/old.ts', moved]]))
    expect(own).to.include({ path: 'src/old.ts' })
  })

  it('are run against the tests in which a function of their file runs', async () => {
    const reached = await filesReached(tree, TAG_TESTS)
    expect(reached).to.include('src/git/objects/object.ts').and.not.to.include('src/git/packs/pack-writer.ts')
  })

  it('each say what they break and what became of them', () => {
    const mutants = keptMutants()
    expect(mutants).to.have.length(60)
    for (const mutant of mutants) {
      const { file, breaks, killedBy, changesNothing } = mutant
      expect(breaks, file).to.match(/^[A-Z].*\.$/)
      expect([killedBy, changesNothing].filter(Boolean), file).to.have.length(1)
    }
  })
})

function mutantOf(texts: Pick<Mutant, 'before' | 'after'>): Mutant {
  return { file: 'src/old.ts', ...texts, breaks: 'Something.' }
}
