import { readConfig } from './config.ts'
import { CannotStart, Refusal } from './errors.ts'
import { nodeFs } from './storage/node-fs.ts'
import { openLogger } from './http/server/logger.ts'
import { shutDownOnSignals } from './http/server/shutdown.ts'
import { start } from './server/start.ts'

try {
  const config = readConfig(process.env)
  const log = openLogger(config.logLevel)
  const service = await start({ config, fs: nodeFs, log, now: () => new Date() })
  log.logger.info({ url: service.server.url, store: config.storeDir }, 'listening')
  log.flush()
  if (service.firstToken !== undefined) process.stderr.write(welcome(service.server.url, service.firstToken))
  shutDownOnSignals({
    server: service.server,
    say: (sentence) => log.logger.info(sentence),
    close: service.close,
    flushed: log.flushed,
    limitMs: config.stopMs,
  })
} catch (error) {
  if (!(error instanceof CannotStart || error instanceof Refusal)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** What the first start tells its user: the key, once, as the two variables that every client here reads, and a line to try them with. */
function welcome(url: string, token: string): string {
  return `
Branchpoint listens on ${url}. An API key with the scope admin was made for you; it is shown only now.
Paste this into another terminal, and try it:

  export BRANCHPOINT_URL=${url} BRANCHPOINT_KEY=${token}

  curl -s $BRANCHPOINT_URL/simple/applications/ -H "Authorization: ApiKey $BRANCHPOINT_KEY" \\
    -H 'Content-Type: application/json' \\
    -d '{"application": {"slug": "hello", "data": {"parameters": {"prompt": {"messages": [{"role": "user", "content": "Hello, {{name}}!"}]}}}}}'

`
}
