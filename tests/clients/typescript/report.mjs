// Counts what was checked, and says what was wanted and what came instead.

import { setTimeout as sleep } from 'node:timers/promises';

import { ProtocolError } from '@modelcontextprotocol/client';

export const INVALID_PARAMS = -32602;
export const STEP_MS_MAX = 15_000;

/** The bundle has nothing that this check could ask for. */
export class Skip extends Error {}

/** Counts, and prints one line per check. */
export class Report {
  passed = 0;
  failed = 0;
  where = '';

  constructor(must) {
    this.must = must;
  }

  /** Returns what `run` returned, or undefined where it failed or had nothing to do. */
  async check(name, run, needs = '') {
    try {
      const result = await within(STEP_MS_MAX, run());
      this.passed += 1;
      console.log(`ok   ${this.where}: ${name}`);
      return result;
    } catch (error) {
      if (!(error instanceof Skip)) this.fail(name, `${error?.name}: ${error?.message}`);
      else if (this.must.includes(needs)) this.fail(name, `the bundle must have it: ${error.message}`);
      else console.log(`skip ${this.where}: ${name}: ${error.message}`);
    }
  }

  fail(name, reason) {
    this.failed += 1;
    console.log(`FAIL ${this.where}: ${name}: ${reason}`);
  }

  /** Prints the counts; returns the exit status. */
  close() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed > 0 || this.passed === 0 ? 1 : 0;
  }
}

export async function within(limit, promise) {
  const stop = new AbortController();
  const late = sleep(limit, undefined, { signal: stop.signal }).then(
    () => Promise.reject(new Error(`no answer within ${limit} ms`)),
    () => {},
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}

export function want(condition, otherwise) {
  if (!condition) throw new Error(otherwise);
}

/** A clean rejection is a JSON-RPC error with this code and a message. */
export async function refused(call, code) {
  let result;
  try {
    result = await call;
  } catch (error) {
    want(error instanceof ProtocolError, `${error?.name}: ${error?.message}`);
    want(error.code === code, `expected code ${code}, got ${error.code}: ${error.message}`);
    want(error.message, 'the error has no message');
    return error;
  }
  throw new Error(`expected an error, got ${JSON.stringify(result).slice(0, 200)}`);
}
