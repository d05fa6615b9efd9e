/**
 * The first segment of each page's address. The server answers the page below these, and the page routes by
 * them; none is the first segment of a REST route (test/http/workbench/addresses.test.ts). Plain data, for
 * use by both.
 */
export const PAGES = {
  artifact: 'a',
  testset: 't',
  query: 'q',
  environments: 'env',
  evaluations: 'eval',
  traces: 'trace',
  settings: 'settings',
  signIn: 'signin',
} as const

/** The folder of the page's files whose names contain a content hash. */
export const ASSETS = 'assets'

/**
 * The page's `<meta>` with the nonce of its Content-Security-Policy, which allows style elements made at run
 * time.
 */
export const NONCE_META = 'csp-nonce'

/** The page's `<meta>` with the name of the command line where the server runs. */
export const COMMAND_META = 'branchpoint-command'
