import { closeSync, fsync, openSync, writeSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import Koa from 'koa'
import { jsonBodyReader } from '../../src/http/body.ts'

/**
 * The floor that figures are ratios to: a bare Koa application with the same parsing of bodies. `POST /append` appends the body to one file and syncs it;
 * every other request is answered with the bytes in the file named by ANSWER. Prints its address and runs until killed.
 */
const synced = promisify(fsync)
const log = openSync(process.env['APPEND_TO'] ?? '/dev/null', 'a')
const readJsonBody = jsonBodyReader({
  maxBytes: 1024 * 1024,
  maxHeldBytes: 256 * 1024 * 1024,
  maxDepth: 100,
})
const answer = Buffer.from(process.env['ANSWER'] ?? '{}')

const app = new Koa()
app.use(async (ctx) => {
  const { text, parse } = await readJsonBody(ctx)
  parse()
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  if (ctx.path === '/append') {
    writeSync(log, text)
    await synced(log)
    ctx.body = '{"count":1}'
  } else ctx.body = answer
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('exit', () => closeSync(log))
