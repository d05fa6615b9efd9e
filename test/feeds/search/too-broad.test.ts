import { expect } from 'chai'
import { Refusal } from '../../../src/errors.ts'
import { type DocumentQuestion, findDocuments } from '../../../src/feeds/search/index/find-documents.ts'
import { type DatabaseFile, IN_MEMORY } from '../../../src/storage/sqlite/database-file.ts'
import { openIndexFile } from '../../../src/registry/index/database/index-file.ts'

describe('search: a word that is in very many artifacts', () => {
  let file: DatabaseFile
  before(() => {
    file = openIndexFile(IN_MEMORY)
    for (let number = 1; number <= 300; number++) {
      file.run(ADD_ARTIFACT, number, `bot-${number}`, `id ${number}`)
      file.run("INSERT INTO search (rowid, name) VALUES (?, 'greeter')", -number)
    }
  })
  after(() => file.close())

  const found = (mostMs: number): number => {
    const question: DocumentQuestion = {
      match: 'greeter',
      kinds: [{ family: 'workflows' }],
      withRows: false,
      includeHistory: false,
      includeArchived: false,
      mostMs,
    }
    return findDocuments(file, question, { behind: undefined, limit: 1000 })?.length ?? 0
  }

  it('is found in all of them while there is time', () => {
    expect(found(600_000)).to.equal(300)
  })

  it('is refused with query_too_broad once the time is over, and says what to do', () => {
    let refusal: unknown
    try {
      found(-1)
    } catch (error) {
      refusal = error
    }
    expect(refusal).to.be.an.instanceOf(Refusal).with.property('code', 'query_too_broad')
    expect(refusal)
      .to.have.property('message')
      .that.includes('Add a word, or name the kinds that are wanted.')
  })
})

const ADD_ARTIFACT = `
  INSERT INTO artifacts (number, family, slug, id, digits, archived, flags, unreadable, meta, searched, seen)
  VALUES (?, 'workflows', ?, ?, '', 0, '{}', 0, '', 1, '')`
