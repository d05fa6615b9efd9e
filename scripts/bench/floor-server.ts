import { closeSync, fsync, openSync, writeSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import Koa from 'koa'

/**
 * The floor that figures are ratios to: a bare Koa application. `POST /append` appends the body to one file and syncs it;
 * every other request is answered with the bytes in the file named by ANSWER. Prints its address and runs until killed.
 */
const synced = promisify(fsync)
const log = openSync(process.env['APPEND_TO'] ?? '/dev/null', 'a')
const answer = Buffer.from(process.env['ANSWER'] ?? '{}')

const app = new Koa()
app.use(async (ctx) => {
  const body = await bodyOf(ctx.req)
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  if (ctx.path === '/append') {
    writeSync(log, body)
    await synced(log)
    ctx.body = '{"count":1}'
  } else ctx.body = answer
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('exit', () => closeSync(log))

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })
}
