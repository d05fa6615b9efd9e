import { expect } from 'chai'
import { git, gitBytes, repositoryWithHistory } from '../../support/git/git-program.ts'
import { parseTag } from '../../../src/git/objects/object.ts'

describe('git: annotated tags', () => {
  it('reads what git tag -a makes, a tag of a tag included', () => {
    const folder = repositoryWithHistory(1)
    git(folder, ['tag', '-a', '-m', 'The first', 'one', 'main'])
    git(folder, ['tag', '-a', '-m', 'Again', 'two', 'one'])
    const one = parseTag(gitBytes(folder, ['cat-file', 'tag', 'one']))
    expect(one).to.include({
      object: git(folder, ['rev-parse', 'main']),
      kind: 'commit',
      tag: 'one',
      message: 'The first\n',
    })
    expect(one.tagger).to.include({ name: 'Ann', email: 'ann@example.com' })
    const two = parseTag(gitBytes(folder, ['cat-file', 'tag', 'two']))
    expect(two).to.include({ object: git(folder, ['rev-parse', 'one']), kind: 'tag' })
  })

  it('reads a tag without tagger, and refuses bytes that name no object', () => {
    const object = 'a'.repeat(40)
    expect(parseTag(Buffer.from(`object ${object}\ntype tree\ntag old\n\nm`))).to.deep.equal({
      object,
      kind: 'tree',
      tag: 'old',
      message: 'm',
    })
    expect(() => parseTag(Buffer.from('type commit\n')))
      .to.throw()
      .with.property('code', 'damaged_repository')
  })
})
