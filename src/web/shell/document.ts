import { COMMAND_META } from '../../http/workbench/addresses.ts'

/** The theme: the system's, or the user's choice in this browser. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'branchpoint-theme'

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Saves the choice, and applies it. */
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

/** The nonce for style elements made at run time (CodeMirror, dialogs); undefined if the page has no policy. */
export function cspNonce(): string | undefined {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content
  return nonce === undefined || nonce === '' ? undefined : nonce
}

/** The name of the command line on the server, which writes it into the page. */
export const COMMAND =
  document.querySelector<HTMLMetaElement>(`meta[name=${COMMAND_META}]`)?.content ?? 'branchpoint'
