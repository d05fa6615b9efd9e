import { COMMAND_META } from '../../http/workbench/addresses.ts'

/** How the page looks: as the system says, or as somebody chose in this browser. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'branchpoint-theme'

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Keeps the choice, and shows it. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  applyTheme()
}

export function applyTheme(): void {
  const theme = chosenTheme()
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** The nonce with which style elements made at run time are allowed (CodeMirror, dialogs); undefined where the page has no policy. */
export function cspNonce(): string | undefined {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content
  return nonce === undefined || nonce === '' ? undefined : nonce
}

/** How the command line is called where this page's server runs: the server writes it into the page. */
export const COMMAND =
  document.querySelector<HTMLMetaElement>(`meta[name=${COMMAND_META}]`)?.content ?? 'branchpoint'
