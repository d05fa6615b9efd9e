/**
 * The first segment of the address of each page, by what the page shows. The server answers the page below them, and the page routes by
 * them; none is the first segment of a route of REST (test/http/workbench/addresses.test.ts). Plain data, for both.
 */
export const PAGES = {
  artifact: 'a',
  testset: 't',
  query: 'q',
  environments: 'env',
  evaluations: 'eval',
  traces: 'trace',
  review: 'review',
  settings: 'settings',
  signIn: 'signin',
} as const

/** Where files of the page lie whose names hold a hash of what is in them. */
export const ASSETS = 'assets'

/** The `<meta>` of the page whose content allows style elements that are made at run time: the nonce of its Content-Security-Policy. */
export const NONCE_META = 'csp-nonce'

/** The `<meta>` of the page that says how the command line is called where the server runs. */
export const COMMAND_META = 'branchpoint-command'
