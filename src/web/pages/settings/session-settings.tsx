import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button/button.tsx'
import { draftNames, emptyDrafts } from '../../parts/drafts/drafts-kept.ts'
import { Failure } from '../../parts/states/failure.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { useSession } from '../../shell/session.tsx'
import { chosenTheme, chooseTheme, type Theme } from '../../shell/theme.ts'
import { Facts } from './facts.tsx'
import { Lead } from './lead.tsx'
import styles from './settings.module.css'

const THEMES: readonly { readonly value: Theme; readonly label: string }[] = [
  { value: 'system', label: 'as the system says' },
  { value: 'light', label: 'light' },
  { value: 'dark', label: 'dark' },
]

/** Who is signed in, and how the page looks. */
export function SessionSettings() {
  const session = useSession()
  const cache = useQueryClient()
  const [theme, setTheme] = useState(chosenTheme)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [drafts, setDrafts] = useState<readonly string[]>([])
  useEffect(() => {
    // A browser that keeps no drafts has none to name.
    draftNames().then(setDrafts, () => undefined)
  }, [])
  async function signOut(): Promise<void> {
    setBusy(true)
    setError(undefined)
    try {
      await call('DELETE /sessions/current', {})
      // A browser that cannot keep drafts cannot empty them either.
      await emptyDrafts().catch(() => undefined)
      // What this key may see is shown to nobody after it.
      // Asked for again and not reset: the sign-in form may be shown already, and would lose what was typed into it.
      await cache.invalidateQueries({ queryKey: ['session'] })
      cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <>
      <Lead
        action={
          <Button kind="primary" busy={isBusy} onClick={() => void signOut()}>
            Sign out
          </Button>
        }
      >
        This browser is signed in with an API key and may do what that key may. Signing out deletes the drafts
        of edits that this browser keeps
        {drafts.length === 0 ? '; it keeps none now.' : `: ${drafts.map(shownDraft).join(', ')}.`}
      </Lead>
      {error !== undefined && <Failure error={error} />}
      <Facts
        label="Session"
        facts={[
          ['Key', session.principal.name],
          ['Project', session.project],
          ['Scopes', session.scopes.join(', ')],
          ['Signed in', <Ago date={session.created_at} />],
          [
            'Until',
            <time dateTime={session.expires_at}>{new Date(session.expires_at).toLocaleString()}</time>,
          ],
        ]}
      />
      <fieldset className={styles.checks}>
        <legend>Theme</legend>
        {THEMES.map(({ value, label }) => (
          <label key={value}>
            <input
              type="radio"
              name="theme"
              checked={theme === value}
              onChange={() => {
                chooseTheme(value)
                setTheme(value)
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </>
  )
}

/** Without the project: `support-bot/warmer`. */
function shownDraft(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}
