import { COMMAND } from '../../shell/document.ts'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { PAGES } from '../../../http/workbench/addresses.ts'
import { call } from '../../api/call.ts'
import { TextField } from '../../parts/fields/fields.tsx'
import { Copyable } from '../../parts/copy/copyable.tsx'
import styles from './page.module.css'
import { useWork } from '../../api/use-route.ts'

/** The page shown without a session. `problem` says why a sign-in link failed. */
export function SignIn({ problem: ofLink }: { readonly problem?: string | undefined }) {
  const [key, setKey] = useState('')
  const { start, isBusy, error } = useWork()
  const refused = error === undefined ? undefined : error instanceof Error ? error.message : String(error)
  const cache = useQueryClient()

  useEffect(() => void (document.title = 'Sign in · Branchpoint'), [])

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    await start(async () => {
      await call('POST /sessions', { body: { session: { key: key.trim() } } })
      if (location.pathname === `/${PAGES.signIn}`) history.replaceState(null, '', '/')
      await cache.resetQueries()
    })
  }

  return (
    <main className={styles.page}>
      <img src="/icon.svg" alt="" width={40} height={40} />
      <h1>Branchpoint</h1>
      <p>Write, test and release prompts. Every change is kept.</p>
      {ofLink !== undefined && refused === undefined && <p role="alert">{ofLink}</p>}
      <form onSubmit={(event) => void submit(event)}>
        <TextField
          label="API key"
          type="password"
          autoComplete="off"
          placeholder="svc_…"
          value={key}
          onChange={setKey}
          problem={refused}
          autoFocus
        />
        <button type="submit" className={styles.primary} disabled={isBusy || key.trim() === ''}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      <p>Running the server? Get a sign-in link:</p>
      <Copyable text={`${COMMAND} open`} label="Command that prints a link" />
      <p>
        <a href="/docs/api">API reference</a>
      </p>
    </main>
  )
}
