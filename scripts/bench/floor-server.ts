import { closeSync, fsync, openSync, renameSync, writeSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Koa from 'koa'
import { jsonBodyReader } from '../../src/http/body/json-body.ts'

/**
 * The floors that figures are ratios to: a bare Koa application with the same parsing of bodies. `POST /append` appends the body
 * to the file APPEND_TO and syncs it; `/append-together` answers after a sync that all who wait share; `/files` creates, syncs and
 * renames as many files as FILES says, in the folder FILES_IN; `/not-modified` is a bare 304; every other path is answered with
 * the bytes of ANSWER, `/with-head` with the headers in the JSON of HEAD as well. Prints its address and runs until killed.
 */
const synced = promisify(fsync)
const log = openSync(process.env['APPEND_TO'] ?? '/dev/null', 'a')
const files = Number(process.env['FILES'] ?? 0)
const filesIn = process.env['FILES_IN'] ?? '.'
const readJsonBody = jsonBodyReader({
  maxBytes: 1024 * 1024,
  maxHeldBytes: 256 * 1024 * 1024,
  maxDepth: 100,
})
const answer = Buffer.from(process.env['ANSWER'] ?? '{}')
const head = JSON.parse(process.env['HEAD'] ?? '{}') as Record<string, string> // what the benchmark gave

const app = new Koa()
app.use(async (ctx) => {
  const { text } = await readJsonBody(ctx)
  if (ctx.path === '/not-modified') {
    ctx.status = 304
    return
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  if (ctx.path === '/with-head') ctx.set(head)
  const write = WRITES.get(ctx.path)
  if (write) {
    await write(text)
    ctx.body = '{"count":1}'
  } else ctx.body = answer
})

const WRITES: ReadonlyMap<string, (text: string) => Promise<unknown>> = new Map([
  ['/append', append],
  ['/append-together', appendTogether],
  ['/files', makeFiles],
])

function append(text: string): Promise<void> {
  writeSync(log, text)
  return synced(log)
}

let syncing = Promise.resolve()
let nextSync: Promise<void> | undefined

/** A sync that is at work may miss what is appended now, so all wait for the one after it. */
function appendTogether(text: string): Promise<void> {
  writeSync(log, text)
  nextSync ??= syncing.then(() => {
    nextSync = undefined
    syncing = synced(log)
    return syncing
  })
  return nextSync
}

let requests = 0

/** Over the files of an earlier request, as the ref of a commit is. */
async function makeFiles(text: string): Promise<void> {
  const request = requests++
  await Promise.all(
    Array.from({ length: files }, async (_, number) => {
      const file = join(filesIn, `${request % PLACES}-${number}`)
      const temporary = `${file}.${request}`
      const descriptor = openSync(temporary, 'wx')
      writeSync(descriptor, text)
      await synced(descriptor)
      closeSync(descriptor)
      renameSync(temporary, file)
    }),
  )
}

/** How many clients' files lie beside each other. */
const PLACES = 64

const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('exit', () => closeSync(log))
