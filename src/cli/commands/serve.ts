import { DEFAULT_PROJECT } from '../../access/keys.ts'
import { COMMAND } from '../../command-name.ts'
import { readConfig } from '../../config.ts'
import { openLogger } from '../../http/logger.ts'
import { shutDownOnSignals } from '../../http/server.ts'
import { IN_MEMORY, start } from '../../server/start.ts'
import { nodeFs } from '../../storage/files.ts'
import type { Command, Shell } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint serve [--memory] [--port PORT] [--json]

  Starts a server. It is set by variables of the environment: PORT (3000), HOST, STORE_DIR (./store), LOG_LEVEL and others.
  The first start on a store makes an API key, and shows it. On a terminal every start prints a link that opens the page signed in.

  --memory     keep everything in memory, for tests: nothing is left when the server stops
  --port PORT  in place of the variable; 0 is a free port
  --json       print one line when the server is ready, {"url", "key", "project"}, and the log to standard error; of a store that has
               keys already, without "key" unless SVC_API_KEY is set

Examples:
  STORE_DIR=/var/lib/branchpoint PORT=8080 branchpoint serve
  branchpoint serve --memory --port 0 --json`

/** The command `serve`. Resolves when the server listens; a signal ends the process. */
export const serveCommand: Command = { usage: USAGE, run }

async function run(args: readonly string[], { environment, progress, print }: Shell): Promise<number> {
  const { values } = readArguments(args, VERBS.serve.options, { usage: USAGE, takesWords: false })
  const { memory = false, port = environment['PORT'], json = false } = values
  const place = memory ? { STORE: undefined, STORE_DIR: IN_MEMORY } : {}
  const config = readConfig({ ...environment, PORT: port, ...place })
  const log = openLogger(config.logLevel, json ? STANDARD_ERROR : undefined)
  const service = await start({ config, fs: nodeFs, log, now: () => new Date() })
  const store = config.store === undefined ? config.storeDir : config.cacheDir
  log.logger.info({ url: service.server.url, store }, 'listening')
  log.flush()
  shutDownOnSignals({
    server: service.server,
    say: (sentence) => log.logger.info(sentence),
    close: service.close,
    flushed: log.flushed,
    limitMs: config.stopMs,
  })
  const { firstToken } = service
  if (json) {
    print(
      JSON.stringify({
        url: service.server.url,
        key: config.adminKey ?? firstToken,
        project: DEFAULT_PROJECT,
      }),
    )
    return 0
  }
  const withoutLink = (error: unknown): undefined => {
    log.logger.warn({ err: error }, 'no link that signs in could be made')
  }
  // A collected log must get no credentials, except the first key, which is shown only once.
  const link =
    firstToken !== undefined || progress.isTTY ? await service.signInLink().catch(withoutLink) : undefined
  if (firstToken !== undefined) progress.write(welcome(service.server.url, firstToken, link))
  else if (link !== undefined) progress.write(`\n${linkText(link)}\n`)
  return 0
}

const STANDARD_ERROR = 2

/**
 * The message that the first start prints: the environment variables that every client reads, with the key, which is shown only this once, and an
 * example call.
 */
function welcome(url: string, token: string, link: string | undefined): string {
  return `
Branchpoint listens on ${url}. An API key with the scope admin was made for you; it is shown only now.
Paste this into another terminal, and try it:

  export BRANCHPOINT_URL=${url} BRANCHPOINT_KEY=${token}

  curl -s $BRANCHPOINT_URL/simple/applications/ -H "Authorization: ApiKey $BRANCHPOINT_KEY" \\
    -H 'Content-Type: application/json' \\
    -d '{"application": {"slug": "hello", "data": {"parameters": {"prompt": {"messages": [{"role": "user", "content": "Hello, {{name}}!"}]}}}}}'
${link === undefined ? '' : `\n${linkText(link)}`}
`
}

function linkText(link: string): string {
  return `Open this in a browser, within 15 minutes and once; "${COMMAND} open" prints another:

  ${link}
`
}
