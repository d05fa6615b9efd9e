import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseFile } from '../../src/storage/sqlite/database-file.ts'
import { DatabaseFiles } from '../../src/storage/sqlite/database-file.ts'
import { temporaryFolder } from '../support/git/git-program.ts'

describe('storage: SQLite files that several threads and processes have open', () => {
  const filesOfAThread = (): DatabaseFiles<DatabaseFile> =>
    new DatabaseFiles(
      (path) =>
        new DatabaseFile(path, 50, (database) =>
          database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS notes (text TEXT)'),
        ),
      50,
    )
  const notes = (file: DatabaseFile): string[] =>
    file.rows<{ text: string }>('SELECT text FROM notes').map(({ text }) => text)
  let folder: string
  let path: string
  beforeEach(() => {
    folder = temporaryFolder()
    path = join(folder, 'notes.db')
  })

  it('another process that comes and goes leaves the log where it is, also once a second thread has opened the file', () => {
    const one = filesOfAThread()
    const file = one.writable(path)
    file.run("INSERT INTO notes VALUES ('one')")
    const other = filesOfAThread()
    expect(notes(other.writable(path))).to.deep.equal(['one'])
    comeAndGo(path)
    expect(file.isCurrent, 'the log is there').to.equal(true)
    file.run("INSERT INTO notes VALUES ('two')")
    expect(notes(other.writable(path))).to.deep.equal(['one', 'two'])
    for (const files of [one, other]) files.close()
  })

  it('a file that is made anew in the place of one that is open has nothing of it, and the open one stays as it was', () => {
    const files = filesOfAThread()
    const before = files.writable(path)
    const letGo = before.hold()
    before.run("INSERT INTO notes VALUES ('before')")
    rmSync(path)
    const after = filesOfAThread()
    expect(notes(after.writable(path))).to.deep.equal([])
    after.writable(path).run("INSERT INTO notes VALUES ('after')")
    expect(notes(before)).to.deep.equal(['before'])
    letGo()
    files.close()
    expect(notes(after.writable(path))).to.deep.equal(['after'])
    after.close()
  })

  it('one that has lost its log is removed, and one that has not stays', () => {
    const files = filesOfAThread()
    const file = files.writable(path)
    file.run("INSERT INTO notes VALUES ('one')")
    files.removeTorn(file)
    expect(existsSync(path)).to.equal(true)
    rmSync(`${path}-wal`)
    files.removeTorn(file)
    expect(existsSync(path)).to.equal(false)
    expect(notes(files.writable(path))).to.deep.equal([])
    files.close()
  })

  it('a thread that wants the file of another one makes none', () => {
    const files = filesOfAThread()
    const { inodes } = files.writable(path)
    const other = filesOfAThread()
    rmSync(path)
    expect(() => other.same(path, inodes)).to.throw('another file by now')
    expect(existsSync(path)).to.equal(false)
    files.close()
  })

  it('opens what is there under any name, and begins what a link leads to', () => {
    for (const name of ['a b.db', 'a%20b.db', 'a?b.db', 'a#b.db', 'ü.db']) {
      const files = filesOfAThread()
      files.writable(`/${join(folder, name)}`).run("INSERT INTO notes VALUES ('one')")
      files.close()
      expect(existsSync(join(folder, name)), name).to.equal(true)
    }
    symlinkSync(join(folder, 'elsewhere.db'), path)
    const files = filesOfAThread()
    expect(notes(files.writable(path))).to.deep.equal([])
    expect(existsSync(join(folder, 'elsewhere.db'))).to.equal(true)
    files.close()
  })
})

/** Another process opens the file and closes it. */
function comeAndGo(path: string): void {
  const library = createRequire(import.meta.url).resolve('libsql')
  const program = `const file = new (require(${JSON.stringify(library)}))(${JSON.stringify(path)})
    file.exec("INSERT INTO notes SELECT 'x' WHERE 0")
    file.close()`
  execFileSync(process.execPath, ['-e', program])
}
