#!/bin/sh
echo released
