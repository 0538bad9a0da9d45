// node profile.mjs PROFILE: reads a profile that camp why --format pprof wrote, checks what must hold of every
// profile, and prints it as JSON. Ends with status 1 and a line on stderr if a claim is false.
//
// The reader of Go, pprof, is a package of 200 MB, so these tests do not have it. The definitions below are
// written from its documentation (proto/profile.proto), independently of src/views/stacks, and a library of another
// project (protobufjs) decodes the bytes by them.
import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs'

const definitions = `
syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1;
  repeated Sample sample = 2;
  repeated Mapping mapping = 3;
  repeated Location location = 4;
  repeated Function function = 5;
  repeated string string_table = 6;
  int64 time_nanos = 9;
  int64 duration_nanos = 10;
  int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; int64 num_unit = 4; }
message Mapping { uint64 id = 1; }
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
`

function claim(holds, text) {
  if (!holds) {
    console.error(`profile.mjs: ${text}`)
    process.exit(1)
  }
}

const type = protobuf.parse(definitions).root.lookupType('Profile')
const profile = type.toObject(type.decode(readFileSync(process.argv[2])), { longs: Number, arrays: true, defaults: true })
const texts = profile.stringTable
claim(texts[0] === '', 'the first text is not empty')
const text = index => {
  claim(index >= 0 && index < texts.length, `no text has the number ${index}`)
  return texts[index]
}
const functions = new Map(profile.function.map(f => [f.id, text(f.name)]))
const locations = new Map(profile.location.map(l => [l.id, l.line.map(line => functions.get(line.functionId))]))
claim(!functions.has(0) && !locations.has(0), 'a function or a location has the number 0')
claim(functions.size === profile.function.length && locations.size === profile.location.length, 'a number is used twice')
const types = profile.sampleType.map(t => [text(t.type), text(t.unit)])
const samples = profile.sample.map(sample => {
  claim(sample.value.length === types.length, 'a sample has another number of values than the profile has types')
  const frames = sample.locationId.flatMap(id => locations.get(id) ?? [undefined]).reverse()
  claim(frames.length > 0 && !frames.includes(undefined), 'a sample has a location that the profile does not have')
  return { frames, values: sample.value, labels: Object.fromEntries(sample.label.map(l => [text(l.key), text(l.str)])) }
})
console.log(JSON.stringify({
  types, samples, start_ns: profile.timeNanos, duration_ns: profile.durationNanos, shown: text(profile.defaultSampleType),
}))
