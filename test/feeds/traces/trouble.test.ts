import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import Database from 'libsql'
import { Refusal } from '../../../src/errors.ts'
import { DatabaseFiles } from '../../../src/storage/sqlite/database-file.ts'
import { BUSY_MS, TraceFile } from '../../../src/feeds/traces/storage/trace-file.ts'
import { traceQuestion } from '../../../src/feeds/traces/query/trace-page.ts'
import { makeSpan, spanWith } from '../../support/values/make-span.ts'
import { type TraceProject, traceProject } from './trace-project.ts'

describe('traces: trouble with the file', () => {
  let project: TraceProject
  beforeEach(() => (project = traceProject()))
  afterEach(() => project.stop())

  const isThere = async (traceId: string) => (await project.traces.read([traceId])).length > 0
  const setAside = () =>
    readdirSync(project.folder).filter((name) =>
      /^traces\.db\.damaged-[^-]*-\d\d-\d\dT[^.]*\.\d+Z$/.test(name),
    )

  it('a file that is no database is set aside whole, and a new one begun', async () => {
    writeFileSync(project.file, 'this was once a database '.repeat(200))
    const span = makeSpan()
    project.traces.record([span])
    expect(await isThere(span.traceId)).to.equal(true)
    expect(setAside()).to.have.length(1)
    expect(readFileSync(join(project.folder, setAside()[0] ?? ''), 'utf8')).to.match(/^this was once/)
    expect(project.troubles.join()).to.match(/is damaged.*set aside as .*traces\.db\.damaged-/)
  })

  it('a database that is damaged while it is used is set aside', async () => {
    project.traces.record(Array.from({ length: 300 }, () => spanWith({ inputs: 'x'.repeat(500) })))
    await isThere('a'.repeat(32))
    await project.open.close()
    const bytes = readFileSync(project.file)
    bytes.fill(0xff, 4096)
    writeFileSync(project.file, bytes)
    const { traces } = project.another()
    const span = makeSpan()
    traces.record([span])
    expect(await traces.read([span.traceId])).to.have.length(1)
    expect(setAside()).to.have.length(1)
  })

  it('a question finds damage, too, and is answered from the new file', async () => {
    writeFileSync(project.file, 'nonsense'.repeat(4096))
    const query = () => project.traces.query(traceQuestion('trace', undefined, {}))
    const [page, again, rows] = await Promise.all([query(), query(), project.traces.read(['a'.repeat(32)])])
    expect([page.spans, again.spans, rows]).to.deep.equal([[], [], []])
    expect(setAside()).to.have.length(1)
    expect(project.troubles).to.have.length(1)
  })

  it('of several processes that find the damage, one sets the file aside and all go on', async () => {
    const processes = [project, ...Array.from({ length: 4 }, () => project.another())]
    for (let round = 1; round <= 5; round++) {
      for (const part of ['-wal', '-shm']) rmSync(project.file + part, { force: true })
      rmSync(project.file, { force: true })
      writeFileSync(project.file, 'nonsense'.repeat(4096))
      const spans = processes.map(({ traces }) => {
        const span = makeSpan()
        traces.record([span])
        return span
      })
      await Promise.all(processes.map(({ traces }) => traces.stored()))
      for (const { traceId } of spans) expect(await isThere(traceId)).to.equal(true)
      expect(setAside()).to.have.length(round)
    }
  })

  it('a file that is sound is not set aside, nor what has taken the place of a damaged one', () => {
    const files = new DatabaseFiles((path) => TraceFile.open(path), BUSY_MS)
    files.writable(project.file)
    expect(files.setAside(project.file)).to.equal(undefined)
    files.writable(project.file)
    for (const part of ['', '-wal', '-shm']) rmSync(project.file + part, { force: true })
    writeFileSync(project.file, 'nonsense'.repeat(4096))
    expect(files.setAside(project.file)).to.equal(undefined)
    expect(setAside()).to.deep.equal([])
    expect(files.setAside(project.file)).to.match(/traces\.db\.damaged-/)
  })

  it('a file that is removed or moved away is made anew', async () => {
    const [before, after] = [makeSpan(), makeSpan()]
    project.traces.record([before])
    expect(await isThere(before.traceId)).to.equal(true)
    renameSync(project.file, `${project.file}.old`)
    for (const part of ['-wal', '-shm']) rmSync(project.file + part, { force: true })
    project.traces.record([after])
    expect(await isThere(after.traceId)).to.equal(true)
    expect(await isThere(before.traceId)).to.equal(false)
  })

  it('a file that cannot be opened keeps spans waiting, says so, and gets them once it can', async () => {
    mkdirSync(project.file)
    const span = makeSpan()
    project.traces.record([span])
    const refused = await project.traces.read([span.traceId]).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Refusal)
    expect((refused as Refusal).code).to.equal('storage_unavailable')
    const [{ project: name, reason } = expect.fail()] = project.open.problems()
    expect(reason).to.match(/unable to open/i)
    expect(project.folder.endsWith(`/${name}`)).to.equal(true)
    // What anyone may read says nothing of the machine's folders.
    expect(`${reason} ${(refused as Refusal).message}`).to.not.include(project.folder)
    expect(project.troubles.join()).to.match(/traces cannot be stored, and wait/)
    rmdirSync(project.file)
    while (project.open.problems().length > 0) await pause(20)
    expect(await isThere(span.traceId)).to.equal(true)
    expect(project.troubles.join()).to.match(/can be stored again/)
  })

  it('a guard that is no lock is told of by its name, and what it guards stays as it is', async () => {
    const [before, after] = [makeSpan(), makeSpan()]
    project.traces.record([before])
    await isThere(before.traceId)
    await project.open.close()
    writeFileSync(`${project.file}.guard`, 'nonsense'.repeat(1000))
    const { traces, open } = project.another()
    traces.record([after])
    const refused = await traces.read([after.traceId]).catch((error: unknown) => error)
    expect((refused as Refusal).code).to.equal('storage_unavailable')
    expect(open.problems()[0]?.reason).to.match(/^traces\.db\.guard should be empty.*Remove it/)
    expect(setAside()).to.deep.equal([])
    rmSync(`${project.file}.guard`)
    while (open.problems().length > 0) await pause(20)
    for (const { traceId } of [before, after]) expect(await traces.read([traceId])).to.have.length(1)
  })

  it('what another process holds locked waits for it', async () => {
    const [first, second] = [makeSpan(), makeSpan()]
    project.traces.record([first])
    await isThere(first.traceId)
    const holder = new Database(project.file)
    holder.exec('BEGIN IMMEDIATE')
    project.traces.record([second])
    await pause(150)
    holder.exec('COMMIT')
    holder.close()
    expect(await isThere(second.traceId)).to.equal(true)
  })

  it('past the bound, spans are dropped, counted and told of once', () => {
    mkdirSync(project.file)
    const large = 'x'.repeat(4 * 1024 * 1024)
    for (let count = 0; count < 20; count++) project.traces.record([spanWith({ inputs: large })])
    expect(project.open.problems()[0]?.dropped).to.be.within(4, 6)
    expect(project.troubles.filter((it) => it.includes('dropped'))).to.have.length(1)
  })

  it('a file of a newer version is left as it is', async () => {
    const newer = new Database(project.file)
    newer.exec('CREATE TABLE later (x); PRAGMA user_version = 7')
    newer.close()
    project.traces.record([makeSpan()])
    const refused = await project.traces.read(['a'.repeat(32)]).catch((error: unknown) => error)
    expect((refused as Refusal).message).to.match(/version 7.*version that made them/)
    expect(setAside()).to.deep.equal([])
    expect(existsSync(project.file)).to.equal(true)
  })

  it('a disk that takes no more: what is stored stays, recording and asking go on', async () => {
    const script = fileURLToPath(new URL('./full-disk-process.js', import.meta.url))
    // The shell lets a file grow to 1 MB, in blocks of 512 or 1024 bytes.
    const limited = `trap '' XFSZ; ulimit -f 1000; exec "${process.execPath}" "${script}" "${project.folder}"`
    const { stdout } = await promisify(execFile)('sh', ['-c', limited])
    const { stored, reason, troubles } = JSON.parse(stdout)
    expect(reason).to.match(/disk/)
    expect(troubles.join()).to.match(
      /traces cannot be stored, and wait.*spans could not be stored before the end/,
    )
    expect(await project.traces.read(stored)).to.have.length(stored.length)
  })
})
