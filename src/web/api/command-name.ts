import { COMMAND_META } from '../../http/workbench/addresses.ts'

/** How the command line is called where this page's server runs: the server writes it into the page. */
export const COMMAND =
  document.querySelector<HTMLMetaElement>(`meta[name=${COMMAND_META}]`)?.content ?? 'branchpoint'
