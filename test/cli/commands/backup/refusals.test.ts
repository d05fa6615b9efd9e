import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { runCommand } from './run-command.ts'
import type { SmallStore } from './small-store.ts'
import { startSmallStore } from './small-store.ts'

describe('branchpoint backup: what it refuses', () => {
  let store: SmallStore
  before(async () => {
    store = await startSmallStore()
  })
  after(() => store.stop())

  for (const [what, args, sentence] of [
    ['no folder to go to', [], /^--to DIR is missing\.\n\n[^]*--key/],
    ['a folder that is no backup', ['--to', 'STORE/default'], /lie within each other/],
    ['a folder of other things', ['--to', 'FOLDER', '--store', 'STORE'], /lie within each other/],
    [
      'a store that is not there',
      ['--to', 'FOLDER/b', '--store', 'FOLDER/none'],
      /^There is no store at .*\/none/,
    ],
    [
      'a project that is not there',
      ['--to', 'FOLDER/b', '--store', 'STORE', '--project', 'none'],
      /no project "none"/,
    ],
    ['two sources', ['--to', 'FOLDER/b', '--store', 'STORE', '--url', 'http://x', '--key', 'k'], /give one/],
    [
      'an address without a key',
      ['--to', 'FOLDER/b', '--url', 'http://x'],
      /^--key is missing \(or BRANCHPOINT_KEY\)/,
    ],
    ['a key without an address', ['--to', 'FOLDER/b', '--key', 'k'], /^--key is for a server/],
    ['a word too many', ['--to', 'FOLDER/b', 'more'], /Unexpected argument/],
  ] satisfies [string, string[], RegExp][]) {
    it(`refuses ${what}`, async () => {
      const given = args.map((it) => it.replace('STORE', store.storeDir).replace('FOLDER', store.folder))
      const withStore =
        args.includes('--store') || args.includes('--url') ? given : [...given, '--store', store.storeDir]
      const error = await runCommand('backup', withStore).catch((it: unknown) => it)
      expect(error).to.be.an('error').with.property('message').that.matches(sentence)
    })
  }

  it('refuses a folder that holds other things, and a backup of another format', async () => {
    writeFileSync(join(store.folder, 'mine.txt'), '')
    mkdirSync(store.backupDir)
    writeFileSync(join(store.backupDir, 'mine.txt'), '')
    expect(await store.backUp().catch(String)).to.contain('is not a backup')
    writeFileSync(join(store.backupDir, 'backup.json'), '{"format": "2"}')
    expect(await store.backUp().catch(String)).to.contain('format "1"')
    expect(readdirSync(store.backupDir)).to.deep.equal(['backup.json', 'mine.txt'])
  })
})
