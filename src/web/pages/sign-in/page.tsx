import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { call } from '../../api/call.ts'
import { TextField } from '../../parts/fields/text-field.tsx'
import { Copyable } from '../../parts/copy/copyable.tsx'
import styles from './page.module.css'

/** What everything is to whoever has no session. A link of the server's (`/signin#token=…`) needs no typing. */
export function SignIn() {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const cache = useQueryClient()

  async function signIn(session: { readonly key: string } | { readonly token: string }): Promise<void> {
    setBusy(true)
    try {
      await call('POST /sessions', { body: { session } })
      if (location.pathname === '/signin') history.replaceState(null, '', '/')
      await cache.resetQueries()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }

  useEffect(() => {
    document.title = 'Sign in · Branchpoint'
    const token = new URLSearchParams(location.hash.slice(1)).get('token')
    if (location.pathname !== '/signin' || token === null) return
    // A token in the address would stay in the history.
    history.replaceState(null, '', '/signin')
    void signIn({ token })
  }, [])

  function submit(event: FormEvent): void {
    event.preventDefault()
    void signIn({ key: key.trim() })
  }

  return (
    <main className={styles.page}>
      <img src="/icon.svg" alt="" width={40} height={40} />
      <h1>Branchpoint</h1>
      <p>
        A registry for prompts, testsets and evaluators in which every artifact is a git repository. Sign in
        with an API key of the project.
      </p>
      <form onSubmit={submit}>
        <TextField
          label="API key"
          type="password"
          autoComplete="off"
          placeholder="svc_…"
          value={key}
          onChange={setKey}
          problem={problem}
          autoFocus
        />
        <button type="submit" className={styles.primary} disabled={isBusy || key.trim() === ''}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      <p>Whoever runs the server gets a link that signs in by itself:</p>
      <Copyable text="npx branchpoint open" label="Command that prints a link" />
      <p>
        <a href="/docs">Every route of the interface</a>
      </p>
    </main>
  )
}
