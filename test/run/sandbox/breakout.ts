import * as childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import * as fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import vm from 'node:vm'
import { hardenRealm } from '../../../src/run/sandbox/inside/seal.ts'

/** Tries every way out of a process and prints what each came to. Arguments: whether to seal the process first; a port that listens. */

const [isSealed, portText] = process.argv.slice(2)
const port = Number(portText)
const { writeSync } = fs
const { exit } = process
const host = process

const WAYS: Readonly<Record<string, () => unknown>> = {
  'read a file': () => fs.readFileSync('/etc/hostname'),
  'read a file by promise': () => fs.promises.readFile('/etc/hostname'),
  'list a folder': () => fs.readdirSync('/'),
  'write a file': () => emptyFolder(fs.mkdtempSync('/tmp/breakout-')),
  'run a program': () => childProcess.execFileSync('true'),
  'fork a program': () => childProcess.spawn('true'),
  'start a thread': () => new Worker('', { eval: true }),
  connect: () => connected(net.connect(port, '127.0.0.1')),
  'connect by hand': () => connected(new net.Socket().connect(port, '127.0.0.1')),
  listen: () => net.createServer().listen(0).close(),
  'send a datagram': () => dgram.createSocket('udp4').unref(),
  'ask for a name': () =>
    new Promise((resolve, reject) =>
      dns.lookup('localhost', (error) => (error ? reject(error) : resolve(1))),
    ),
  fetch: () => fetch(`http://127.0.0.1:${port}/`),
  request: () => connected(http.get({ port, host: '127.0.0.1' })),
  'make code': () => new Function('return 1')() as unknown,
  'make code elsewhere': () => vm.runInNewContext('1') as unknown,
  'ask for process': () => globalThis.process.version,
  'ask for the environment': () => host.env['SECRET']?.length,
  'ask for a binding': () =>
    (host as unknown as Record<'binding', (name: string) => object>).binding('tcp_wrap'), // untyped
}

if (isSealed === 'true') hardenRealm()
const outcomes: Record<string, string> = {}
for (const [name, way] of Object.entries(WAYS)) outcomes[name] = await outcomeOf(way)
writeSync(1, JSON.stringify(outcomes))
exit(0)

async function outcomeOf(way: () => unknown): Promise<string> {
  try {
    return (await way()) === undefined ? 'refused: nothing' : 'done'
  } catch (error) {
    return `refused: ${String(error)}`
  }
}

function connected(socket: NodeJS.EventEmitter): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(1))
    socket.once('response', () => resolve(1))
    socket.once('error', reject)
  })
}

function emptyFolder(path: string): string {
  fs.rmdirSync(path)
  return path
}
