import { Table } from '../../../parts/table/table.tsx'
import { type Members, membersOf } from '../../../api/members-of.ts'
import styles from '../revision.module.css'

/** What runs it: a handler of the service, a script, or a server elsewhere that is called with these headers. */
export function WhereItRuns({ data: { uri, url, runtime, headers } }: { readonly data: Members }) {
  const sent = Object.entries(membersOf(headers))
  const facts = [
    ['Handler', uri],
    ['Runtime', runtime],
    ['Address', url],
  ].filter((fact): fact is [string, string] => typeof fact[1] === 'string')
  if (facts.length === 0 && sent.length === 0) return null
  return (
    <section>
      <h2>What runs it</h2>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{value.slice(0, 2000)}</code>
            </dd>
          </div>
        ))}
      </dl>
      {sent.length > 0 && (
        <Table
          caption="Headers that are sent"
          rows={sent}
          keyOf={([name]) => name}
          columns={[
            { name: 'Header', cell: ([name]) => <code>{name}</code> },
            { name: 'Value', cell: ([, value]) => <Header value={value} /> },
          ]}
        />
      )}
    </section>
  )
}

function Header({ value }: { readonly value: unknown }) {
  const { secret } = membersOf(value)
  if (typeof secret === 'string') return <>the secret {secret}</>
  return <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
}
